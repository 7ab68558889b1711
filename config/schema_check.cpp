#include "config/schema_check.hpp"

#include <algorithm>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "config/nearest_key.hpp"

namespace brink {
namespace {

using nlohmann::json;

/// valijson names a place as `<root>`, `["key"]`, `[3]`; a JSON pointer is made of it.
json::json_pointer pointer_of(const std::vector<std::string>& context) {
    json::json_pointer pointer;
    for (const auto& step : context) {
        if (step.size() < 2 || step.front() != '[') continue;
        std::string inner = step.substr(1, step.size() - 2);
        if (inner.size() >= 2 && inner.front() == '"') inner = inner.substr(1, inner.size() - 2);
        pointer.push_back(inner);
    }
    return pointer;
}

/// The part of the schema that describes a place of a document; null where only a pattern does.
const json* schema_at(const json& schema, const json::json_pointer& place) {
    const json* node = &schema;
    std::vector<std::string> steps;
    for (auto p = place; !p.empty(); p.pop_back()) steps.insert(steps.begin(), p.back());
    for (const auto& step : steps) {
        const auto properties = node->find("properties");
        if (properties == node->end() || !properties->contains(step)) return nullptr;
        node = &(*properties)[step];
    }
    return node;
}

/// The keys that the schema knows at the place of a document.
std::vector<std::string> known_keys(const json& schema, const json::json_pointer& place) {
    std::vector<std::string> keys;
    const json* node = schema_at(schema, place);
    if (!node) return keys;
    if (const auto properties = node->find("properties"); properties != node->end()) {
        for (const auto& [key, value] : properties->items()) keys.push_back(key);
    }
    return keys;
}

std::string shown(const json& document, const json::json_pointer& place) {
    if (!document.contains(place)) return {};
    auto text = document.at(place).dump(-1, ' ', false, json::error_handler_t::replace);
    if (text.size() > 80) text = text.substr(0, 77) + "...";
    return text;
}

constexpr std::string_view kNoForm = "Failed to validate against any schemas allowed by anyOf";
constexpr std::string_view kUnknownKey = "Object contains a property that could not be validated";

ErrorDetail detail_of(const valijson::ValidationResults::Error& error, const json& document,
                      const json& schema) {
    auto place = pointer_of(error.context);
    if (error.description.rfind(kUnknownKey, 0) == 0) {
        const auto keys = known_keys(schema, place);
        for (const auto& [key, value] : document.at(place).items()) {
            if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
            const auto message = unknown_key_message(key, keys);
            place.push_back(key);
            return {place.to_string(), message};
        }
    }
    return {place.to_string(), error.description + " Seen: " + shown(document, place)};
}

bool is_within(const std::string& inner, const std::string& outer) {
    return inner == outer ||
           (inner.size() > outer.size() && inner.rfind(outer, 0) == 0 && inner[outer.size()] == '/');
}

}  // namespace

std::vector<ErrorDetail> check_schema(const json& document, const json& schema_document) {
    valijson::Schema schema;
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_document), schema);
    valijson::Validator validator(valijson::Validator::kStrongTypes);
    valijson::ValidationResults results;
    if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results)) return {};
    // Leaves come before what holds them, so a fault that holds a known one adds nothing. Where a value may
    // have one of several forms, the faults of the forms it does not have are noise: one sentence lists the
    // forms instead.
    std::vector<ErrorDetail> leaves;
    valijson::ValidationResults::Error error;
    while (results.popError(error)) {
        const auto place = pointer_of(error.context);
        if (error.description.rfind(kNoForm, 0) == 0) {
            std::erase_if(leaves,
                          [&](const ErrorDetail& d) { return is_within(d.pointer, place.to_string()); });
            const json* node = schema_at(schema_document, place);
            const auto forms = node ? node->value("description", "") : std::string();
            leaves.push_back({place.to_string(), forms + " Seen: " + shown(document, place)});
            continue;
        }
        auto detail = detail_of(error, document, schema_document);
        const bool holds_known = std::any_of(leaves.begin(), leaves.end(), [&](const ErrorDetail& d) {
            return is_within(d.pointer, detail.pointer);
        });
        if (!holds_known) leaves.push_back(std::move(detail));
    }
    return leaves;
}

}  // namespace brink

#include "agents/protocol/field_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "agents/protocol/json_pointer.hpp"
#include "config/nearest_key.hpp"

namespace brink::protocol {
namespace {

std::string written(double value) { return nlohmann::json(value).dump(); }

}  // namespace

std::string describe(const nlohmann::json& value) {
    switch (value.type()) {
        case nlohmann::json::value_t::null:
            return "null";
        case nlohmann::json::value_t::boolean:
            return value.get<bool>() ? "true" : "false";
        case nlohmann::json::value_t::string:
            return "a string";
        case nlohmann::json::value_t::array:
            return "an array";
        case nlohmann::json::value_t::object:
            return "an object";
        default:
            return "the number " + value.dump();
    }
}

FieldReader::FieldReader(const nlohmann::json& json, std::string pointer)
    : json_(json), pointer_(std::move(pointer)) {
    if (!json_.is_object()) faults_.push_back({pointer_, "must be an object, not " + describe(json_)});
}

std::string FieldReader::pointer(const std::string& name) const { return child_pointer(pointer_, name); }

void FieldReader::fault(const std::string& name, const std::string& detail) { add({pointer(name), detail}); }

void FieldReader::add(ErrorDetail fault) {
    // A megabyte of nonsense must not become many megabytes of answer.
    constexpr std::size_t kMostFaults = 64;
    if (faults_.size() < kMostFaults) faults_.push_back(std::move(fault));
}

void FieldReader::merge(const Error& error) {
    for (const auto& detail : error.details) add(detail);
}

const nlohmann::json* FieldReader::find(const char* name, bool required) {
    known_.emplace_back(name);
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(name);
    if (found != json_.end()) return &*found;
    if (required) fault(name, "is missing");
    return nullptr;
}

const nlohmann::json* FieldReader::member(const char* name) { return find(name, false); }

const nlohmann::json* FieldReader::object(const char* name) {
    const auto* value = find(name, false);
    if (value == nullptr || value->is_object()) return value;
    fault(name, "must be an object, not " + describe(*value));
    return nullptr;
}

const nlohmann::json* FieldReader::array(const char* name) {
    const auto* value = find(name, false);
    if (value == nullptr || value->is_array()) return value;
    fault(name, "must be an array, not " + describe(*value));
    return nullptr;
}

std::int64_t FieldReader::integer(const char* name, std::int64_t low, std::int64_t high,
                                  std::optional<std::int64_t> absent) {
    const auto* value = find(name, !absent);
    if (value == nullptr) return absent.value_or(0);
    // The library would quietly turn 1.9 and true into 1 and wrap what does not fit.
    const bool whole = value->is_number_integer();
    const bool too_big =
        value->is_number_unsigned() &&
        value->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    if (whole && !too_big) {
        const auto number = value->get<std::int64_t>();
        if (number >= low && number <= high) return number;
    }
    fault(name, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
                    ", not " + describe(*value));
    return absent.value_or(0);
}

std::uint64_t FieldReader::count(const char* name, std::optional<std::uint64_t> absent) {
    const auto* value = find(name, !absent);
    if (value == nullptr) return absent.value_or(0);
    if (value->is_number_unsigned()) return value->get<std::uint64_t>();
    fault(name, "must be a whole number ≥ 0, not " + describe(*value));
    return 0;
}

double FieldReader::number(const char* name, double low, double high, std::optional<double> absent) {
    const auto* value = find(name, !absent);
    if (value == nullptr) return absent.value_or(0);
    if (value->is_number()) {
        const auto number = value->get<double>();
        if (std::isfinite(number) && number >= low && number <= high) return number;
    }
    fault(name,
          "must be a number from " + written(low) + " to " + written(high) + ", not " + describe(*value));
    return absent.value_or(0);
}

std::string FieldReader::text(const char* name, std::size_t longest,
                              const std::optional<std::string>& absent) {
    const auto* value = find(name, !absent);
    if (value == nullptr) return absent.value_or("");
    if (!value->is_string()) {
        fault(name, "must be a string, not " + describe(*value));
        return {};
    }
    const auto& text = value->get_ref<const std::string&>();
    if (text.size() > longest) {
        fault(name, "is longer than " + std::to_string(longest) + " bytes");
        return {};
    }
    return text;
}

std::vector<std::string> FieldReader::texts(const char* name, std::size_t longest) {
    std::vector<std::string> out;
    const auto* values = array(name);
    if (values == nullptr) return out;
    for (std::size_t i = 0; i < values->size(); ++i) {
        const auto& value = (*values)[i];
        if (value.is_string() && value.get_ref<const std::string&>().size() <= longest)
            out.push_back(value.get<std::string>());
        else
            add({pointer(name) + "/" + std::to_string(i),
                 "must be a string of at most " + std::to_string(longest) + " bytes"});
    }
    return out;
}

std::optional<Error> FieldReader::finish(const char* what) {
    if (json_.is_object())
        for (const auto& [name, value] : json_.items())
            if (std::find(known_.begin(), known_.end(), name) == known_.end())
                fault(name, unknown_key_message(name, known_));
    if (faults_.empty()) return std::nullopt;
    const auto& first = faults_.front();
    std::string message =
        std::string("this ") + what + " cannot be used: '" + first.pointer + "' " + first.detail;
    if (faults_.size() > 1) message += " (and " + std::to_string(faults_.size() - 1) + " more)";
    return Error{ErrorCode::invalid_input, message, std::move(faults_)};
}

}  // namespace brink::protocol

#include "config/toml_table.hpp"

#include <algorithm>
#include <sstream>

#include "config/nearest_key.hpp"

namespace brink {
namespace {

Error configuration_error(std::string message) {
    return Error{ErrorCode::configuration, std::move(message), {}};
}

std::string scalar_text(const toml::node& node) {
    if (const auto* s = node.as_string()) return s->get();
    std::ostringstream out;
    out << toml::node_view<const toml::node>(&node);
    return out.str();
}

}  // namespace

tl::expected<toml::table, Error> parse_toml(const std::string& text, const std::string& origin) {
    try {
        return toml::parse(text, origin);
    } catch (const toml::parse_error& e) {
        return tl::unexpected(configuration_error(origin + ":" + std::to_string(e.source().begin.line) +
                                                  ": " + std::string(e.description())));
    }
}

std::string TomlTable::place(const std::string& key, const toml::node* node) const {
    const auto line = node ? node->source().begin.line : table_->source().begin.line;
    return origin_ + ":" + std::to_string(line) + ": " + (where_.empty() ? key : where_ + "." + key);
}

void TomlTable::fault(const std::string& key, const std::string& what) {
    if (!fault_) fault_ = configuration_error(place(key, table_->get(key)) + ": " + what);
}

const toml::node* TomlTable::take(const std::string& key) {
    asked_.push_back(key);
    return table_->get(key);
}

std::optional<std::string> TomlTable::text(const std::string& key) {
    const auto* node = take(key);
    if (!node) return std::nullopt;
    if (const auto* value = node->as_string()) return value->get();
    fault(key, "must be a text in quotes, not " + scalar_text(*node));
    return std::nullopt;
}

std::optional<std::int64_t> TomlTable::integer(const std::string& key, std::int64_t low, std::int64_t high) {
    const auto* node = take(key);
    if (!node) return std::nullopt;
    const auto* value = node->as_integer();
    if (!value || value->get() < low || value->get() > high) {
        fault(key, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
                       ", not " + scalar_text(*node));
        return std::nullopt;
    }
    return value->get();
}

std::optional<double> TomlTable::number(const std::string& key, double low, double high) {
    const auto* node = take(key);
    if (!node) return std::nullopt;
    const auto value = node->is_number() ? node->value<double>() : std::nullopt;
    // Written so that NaN is refused as well.
    if (!value || !(*value >= low && *value <= high)) {
        std::ostringstream range;
        range << "must be a number from " << low << " to " << high << ", not " << scalar_text(*node);
        fault(key, range.str());
        return std::nullopt;
    }
    return value;
}

std::optional<std::vector<std::string>> TomlTable::texts(const std::string& key) {
    const auto* node = take(key);
    if (!node) return std::nullopt;
    std::vector<std::string> values;
    const auto* array = node->as_array();
    for (std::size_t i = 0; array && i < array->size(); ++i) {
        const auto* value = array->get(i)->as_string();
        if (!value) {
            array = nullptr;
            break;
        }
        values.push_back(value->get());
    }
    if (!array) {
        fault(key, "must be a list of texts");
        return std::nullopt;
    }
    return values;
}

std::map<std::string, std::string> TomlTable::properties(const std::string& key) {
    std::map<std::string, std::string> result;
    const auto* node = take(key);
    if (!node) return result;
    const auto* table = node->as_table();
    if (!table) {
        fault(key, "must be a table of properties");
        return result;
    }
    for (const auto& [name, value] : *table) {
        if (value.is_table() || value.is_array()) {
            fault(key, "property '" + std::string(name.str()) +
                           "' is a table: put names with dots in quotes, as in \"linger.ms\" = 5");
            return {};
        }
        result.emplace(std::string(name.str()), scalar_text(value));
    }
    return result;
}

std::optional<TomlTable> TomlTable::table(const std::string& key) {
    const auto* node = take(key);
    if (!node) return std::nullopt;
    const auto path = where_.empty() ? key : where_ + "." + key;
    if (const auto* found = node->as_table()) return TomlTable(*found, origin_, path);
    fault(key, "must be written as [" + path + "]");
    return std::nullopt;
}

std::vector<TomlTable> TomlTable::tables(const std::string& key) {
    std::vector<TomlTable> result;
    const auto* node = take(key);
    if (!node) return result;
    const auto* array = node->as_array();
    if (!array || !array->is_homogeneous(toml::node_type::table)) {
        fault(key, "must be written as [[" + (where_.empty() ? key : where_ + "." + key) + "]]");
        return result;
    }
    for (std::size_t i = 0; i < array->size(); ++i) {
        result.emplace_back(*array->get(i)->as_table(), origin_, where_.empty() ? key : where_ + "." + key);
    }
    return result;
}

tl::expected<void, Error> TomlTable::finish() {
    if (!fault_) {
        for (const auto& [name, value] : *table_) {
            const std::string key(name.str());
            if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
                fault(key, unknown_key_message(key, asked_));
                break;
            }
        }
    }
    if (fault_) return tl::unexpected(*fault_);
    return {};
}

}  // namespace brink

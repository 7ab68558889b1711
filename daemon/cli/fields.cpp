#include "daemon/cli/fields.hpp"

#include <limits>

namespace brink::cli {

using nlohmann::json;

const json& member(const json& object, const char* key) {
    static const json kNull;
    if (!object.is_object()) return kNull;
    const auto found = object.find(key);
    return found == object.end() ? kNull : *found;
}

const json& list(const json& object, const char* key) {
    static const json kEmpty = json::array();
    const json& value = member(object, key);
    return value.is_array() ? value : kEmpty;
}

std::optional<double> number(const json& object, const char* key) {
    const json& value = member(object, key);
    if (!value.is_number()) return std::nullopt;
    return value.get<double>();
}

std::optional<std::int64_t> integer(const json& object, const char* key) {
    const json& value = member(object, key);
    if (!value.is_number_integer()) return std::nullopt;
    constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > kLargest) return std::nullopt;
    return value.get<std::int64_t>();
}

std::string text(const json& object, const char* key) {
    const json& value = member(object, key);
    return value.is_string() ? value.get<std::string>() : std::string{};
}

bool boolean(const json& object, const char* key) {
    const json& value = member(object, key);
    return value.is_boolean() && value.get<bool>();
}

}  // namespace brink::cli

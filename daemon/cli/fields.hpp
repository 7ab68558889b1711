#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

/// Reads a controller's answers leniently: a field that is absent, null or of another type is simply not
/// there, so that a newer or older controller is shown as well as it can be. Pure.
namespace brink::cli {

std::optional<double> number(const nlohmann::json& object, const char* key);
/// Whole numbers only, within int64.
std::optional<std::int64_t> integer(const nlohmann::json& object, const char* key);
/// Empty where there is no text.
std::string text(const nlohmann::json& object, const char* key);
bool boolean(const nlohmann::json& object, const char* key);
/// The member, or null. The reference lives as long as `object` does.
const nlohmann::json& member(const nlohmann::json& object, const char* key);
/// The array member, or an empty array. The reference lives as long as `object` does.
const nlohmann::json& list(const nlohmann::json& object, const char* key);

}  // namespace brink::cli

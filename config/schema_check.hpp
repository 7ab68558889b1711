#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "search/error.hpp"

namespace brink {

/// Validates `json` against a JSON Schema (draft 7). Returns the leaf faults only, each with the pointer of
/// the value at fault, the value seen, and for an unknown key the nearest known one. Throws when the schema
/// itself is broken.
std::vector<ErrorDetail> check_schema(const nlohmann::json& json, const nlohmann::json& schema);

}  // namespace brink

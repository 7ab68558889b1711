#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace brink::cli {

/// Is this cluster fit to be judged? Brokers, each signal with its source and value at rest, agents, then the
/// verdict with what to do. `report` is the answer of GET /clusters/{name}/check. Pure.
std::vector<std::string> check_lines(const nlohmann::json& report);

}  // namespace brink::cli

#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace brink::cli {

/// A table of agents, and below it why some are not ready. `agents` as GET /agents has them. Pure.
std::vector<std::string> agent_lines(const nlohmann::json& agents);

}  // namespace brink::cli

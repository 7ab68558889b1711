#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace brink::cli {

/// The bootstrap servers of a cluster that are not on loopback, for the question whether it may be loaded:
/// nothing when all are, or when the controller does not list the cluster (it will say so itself). `clusters`
/// is the answer of GET /clusters. Pure.
std::optional<std::string> remote_servers(const nlohmann::json& clusters, const std::string& cluster);

}  // namespace brink::cli

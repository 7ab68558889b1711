#pragma once
#include <map>
#include <string>

#include "agents/net/router.hpp"
#include "deploy/sim/embedded_cluster.hpp"

namespace brink::sim {

/// Adds the control interface of an embedded cluster to a router (JSON):
///   GET /brokers                     ids, addresses, metrics addresses, bootstrap servers
///   GET /topics, GET /topics/{name}  leaders by partition
///   PUT /topics/{name}               {"partitions": 30} or {"leaders": [1,2,3]}, "replication_factor"
///   DELETE /topics/{name}
///   GET /truth?message_bytes=N       the model's own boundary: {message_bytes, true_msgs_per_s, …}
///   GET /model                       what work costs
///   GET, POST, DELETE /faults        {"broker": 2, "kind": "slow", "amount": 3, "for_s": 10}
///   GET /brinkd.toml                 the [[clusters]] entry for brinkd's configuration
/// `metrics_urls`, by broker id, are shown to callers. The cluster must outlive the router.
void add_control_routes(net::Router& router, EmbeddedCluster& cluster,
                        const std::map<int, std::string>& metrics_urls);

}  // namespace brink::sim

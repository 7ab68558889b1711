#pragma once
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "agents/net/http_client.hpp"
#include "config/controller_config.hpp"
#include "daemon/cluster/cluster.hpp"

namespace brink {

/// The cluster that an entry of the configuration speaks of: brink-sim where it has a `sim_url`, else Kafka.
/// `http` must outlive the result. Errors: as the two that it chooses from, with the cluster's name.
tl::expected<std::unique_ptr<Cluster>, Error> connect(const ClusterConfig& config, net::HttpClient& http);

/// The embedded cluster behind brink-sim's control interface at `url`. Topics are created there and never by
/// a client: any request for the metadata of an unknown topic would create it with 4 partitions. `http` must
/// outlive the result. Thread-safe.
std::unique_ptr<Cluster> make_sim_cluster(const std::string& url, net::HttpClient& http);

}  // namespace brink

#pragma once
#include <memory>

#include "agents/net/http_client.hpp"
#include "config/controller_config.hpp"
#include "daemon/metrics/metrics_source.hpp"

namespace brink {

/// The source of a cluster's metrics as its configuration says: the brokers' exporters, or a Prometheus
/// server. Connects to nothing yet; `http` must outlive it.
std::unique_ptr<MetricsSource> metrics_of(const ClusterConfig& cluster, net::HttpClient& http,
                                          const std::vector<MetricsProfile>& profiles = {});

}  // namespace brink

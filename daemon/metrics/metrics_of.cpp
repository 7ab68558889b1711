#include "daemon/metrics/metrics_of.hpp"

#include <utility>
#include <vector>

#include "daemon/metrics/prometheus_source.hpp"
#include "daemon/metrics/scraper.hpp"

namespace brink {

std::unique_ptr<MetricsSource> metrics_of(const ClusterConfig& cluster, net::HttpClient& http,
                                          const std::vector<MetricsProfile>& profiles) {
    if (cluster.prometheus)
        return std::make_unique<PrometheusSource>(http, *cluster.prometheus, SignalReader{profiles});
    std::vector<MetricsEndpoint> endpoints;
    endpoints.reserve(cluster.metrics.size());
    for (const auto& m : cluster.metrics) {
        endpoints.push_back({.broker_id = m.broker_id,
                             .url = m.url,
                             .bearer_token = m.bearer_token,
                             .basic_user = m.basic_user,
                             .basic_password = m.basic_password});
    }
    return std::make_unique<Scraper>(http, std::move(endpoints), SignalReader{profiles});
}

}  // namespace brink

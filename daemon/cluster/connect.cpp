#include "daemon/cluster/connect.hpp"

namespace brink {

tl::expected<std::unique_ptr<Cluster>, Error> connect(const ClusterConfig& config, net::HttpClient& http) {
    if (!config.sim_url.empty()) return make_sim_cluster(config.sim_url, http);
    auto properties = config.client;
    properties["bootstrap.servers"] = config.bootstrap_servers;
    auto made = make_kafka_cluster(properties);
    if (!made) return tl::unexpected(made.error().within("cluster '" + config.name + "'"));
    return made;
}

}  // namespace brink

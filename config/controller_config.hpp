#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "config/guard_config.hpp"
#include "config/metrics_profile.hpp"
#include "search/error.hpp"

namespace brink {

/// Where the metrics of one broker are, and what it takes to read them.
struct MetricsConfig {
    int broker_id = 0;
    std::string url{};
    std::string bearer_token{};  ///< from `bearer_token_file`
    std::string basic_user{};
    std::string basic_password{};  ///< from `basic_password_file`
};

/// How the series of one broker are found at a Prometheus server.
struct PrometheusBroker {
    int broker_id = 0;
    std::map<std::string, std::string> labels{};  ///< every one must be equal; at least one is given
};

/// A Prometheus server that scrapes the brokers: read instead of the brokers' own exporters.
struct PrometheusConfig {
    std::string url{};           ///< of the server, without `/api/v1` and without a final slash
    std::string bearer_token{};  ///< from `bearer_token_file`
    std::string basic_user{};
    std::string basic_password{};  ///< from `basic_password_file`
    double lag_s = 15;             ///< how far behind now its newest samples may be
    std::vector<PrometheusBroker> brokers{};
};

/// A cluster that sweeps may load. Only clusters listed here are ever touched.
struct ClusterConfig {
    std::string name;
    std::string bootstrap_servers;
    std::string sim_url{};  ///< control address of a brink-sim; empty for a real Kafka cluster
    std::map<std::string, std::string> client{};  ///< librdkafka properties to reach it, secrets resolved
    /// Exactly one of the two says where the brokers' metrics are.
    std::vector<MetricsConfig> metrics{};
    std::optional<PrometheusConfig> prometheus{};
    std::chrono::milliseconds scrape_timeout{4'000};
    GuardConfig guards{};  ///< what stops the load on this cluster
};

/// An agent that the controller may use.
struct AgentEndpoint {
    std::string name;
    std::string url;
    std::string token{};  ///< from `token_file`
};

struct ControllerConfig {
    std::string listen = "127.0.0.1:8600";
    std::string token{};  ///< from `token_file`; required off loopback
    std::string database = "brink.sqlite";
    std::string topic_prefix = "brink-";
    std::string log_level = "info";
    std::chrono::milliseconds lease{5'000};
    int max_producers = 2'000;            ///< no trial ever has more
    double foreign_mb_per_s_above = 1.0;  ///< traffic at rest that makes a cluster unfit to be judged
    std::vector<MetricsProfile>
        metrics_profiles{};  ///< of the files in `metrics_profiles`, beside those that ship
    std::vector<ClusterConfig> clusters{};
    std::vector<AgentEndpoint> agents{};

    [[nodiscard]] const ClusterConfig* cluster(const std::string& name) const;
};

/// Reads TOML text, and the secret files that it names. Unknown keys are errors that name the line and the
/// nearest known key. `origin` names the file in errors. Errors: configuration.
/// Off loopback a token is needed. Errors: configuration.
tl::expected<void, Error> check_listen_address(const ControllerConfig& config);

tl::expected<ControllerConfig, Error> parse_controller_config(const std::string& text,
                                                              const std::string& origin);

}  // namespace brink

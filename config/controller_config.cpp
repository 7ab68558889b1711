#include "config/controller_config.hpp"

#include <cctype>
#include <set>

#include "config/agent_config.hpp"
#include "config/toml_table.hpp"

namespace brink {
namespace {

bool is_name(const std::string& text) {
    return !text.empty() && text.size() <= 64 &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
               std::string::npos;
}

bool is_http_url(const std::string& url) { return url.rfind("http://", 0) == 0 && url.size() > 7; }

/// `url` of a server, without a final slash.
std::string server_url(TomlTable& table) {
    auto url = table.required("url");
    if (!is_http_url(url)) table.fault("url", "must start with http://, not '" + url + "'");
    while (!url.empty() && url.back() == '/') url.pop_back();
    return url;
}

std::string secret(TomlTable& table, const std::string& key) {
    const auto path = table.text(key);
    if (!path) return {};
    auto value = read_secret_file(*path);
    if (value) return *value;
    table.fault(key, value.error().message);
    return {};
}

tl::expected<MetricsConfig, Error> read_metrics(TomlTable& table) {
    MetricsConfig metrics;
    const auto id = table.integer("broker_id", 0, 2'147'483'647);
    if (!id) table.fault("broker_id", "is required");
    metrics.broker_id = static_cast<int>(id.value_or(0));
    metrics.url = table.required("url");
    if (!is_http_url(metrics.url)) table.fault("url", "must start with http://, not '" + metrics.url + "'");
    metrics.bearer_token = secret(table, "bearer_token_file");
    metrics.basic_user = table.text("basic_user").value_or("");
    metrics.basic_password = secret(table, "basic_password_file");
    if (auto ok = table.finish(); !ok) return tl::unexpected(ok.error());
    return metrics;
}

bool is_label_name(const std::string& text) {
    // What Prometheus calls a label; names that begin with two underscores are its own.
    return !text.empty() && text.rfind("__", 0) != 0 &&
           std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
               std::string::npos;
}

tl::expected<PrometheusBroker, Error> read_prometheus_broker(TomlTable& table) {
    PrometheusBroker broker;
    const auto id = table.integer("broker_id", 0, 2'147'483'647);
    if (!id) table.fault("broker_id", "is required");
    broker.broker_id = static_cast<int>(id.value_or(0));
    broker.labels = table.properties("labels");
    if (broker.labels.empty()) {
        table.fault(
            "labels",
            "is required: the labels of this broker's target, as in { instance = \"10.0.0.1:7071\" }");
    }
    for (const auto& [name, value] : broker.labels) {
        if (!is_label_name(name)) table.fault("labels", "'" + name + "' is not the name of a label");
        if (value.empty()) table.fault("labels", "'" + name + "' must have a value");
    }
    if (auto ok = table.finish(); !ok) return tl::unexpected(ok.error());
    return broker;
}

tl::expected<PrometheusConfig, Error> read_prometheus(TomlTable& table) {
    PrometheusConfig server;
    server.url = server_url(table);
    if (server.url.find_first_of("?#") != std::string::npos || server.url.ends_with("/api/v1")) {
        table.fault("url",
                    "is that of the server alone, as in http://prometheus:9090, not '" + server.url + "'");
    }
    const bool user = table.text("basic_user").has_value();
    const bool password = table.text("basic_password_file").has_value();
    if (user && table.text("bearer_token_file"))
        table.fault("basic_user", "and bearer_token_file are two ways to sign in: keep one");
    if (user != password)
        table.fault(user ? "basic_user" : "basic_password_file",
                    "basic_user and basic_password_file belong together: give both or neither");
    server.bearer_token = secret(table, "bearer_token_file");
    server.basic_user = table.text("basic_user").value_or("");
    server.basic_password = secret(table, "basic_password_file");
    if (auto v = table.integer("lag_s", 1, 600)) server.lag_s = static_cast<double>(*v);
    std::set<int> ids;
    std::set<std::map<std::string, std::string>> targets;
    for (auto& child : table.tables("brokers")) {
        auto broker = read_prometheus_broker(child);
        if (!broker) return tl::unexpected(broker.error());
        if (!ids.insert(broker->broker_id).second)
            table.fault("brokers", "broker " + std::to_string(broker->broker_id) + " is listed twice");
        if (!targets.insert(broker->labels).second) {
            table.fault("brokers",
                        "broker " + std::to_string(broker->broker_id) + " has the labels of another broker");
        }
        server.brokers.push_back(std::move(*broker));
    }
    if (server.brokers.empty()) {
        table.fault(
            "brokers",
            "none is listed: add a [[clusters.prometheus.brokers]] with broker_id and labels for each");
    }
    if (auto ok = table.finish(); !ok) return tl::unexpected(ok.error());
    return server;
}

tl::expected<ClusterConfig, Error> read_cluster(TomlTable& table) {
    ClusterConfig cluster;
    cluster.name = table.required("name");
    if (!is_name(cluster.name))
        table.fault("name", "may have letters, digits, '.', '_' and '-' (64 at most)");
    cluster.bootstrap_servers = table.required("bootstrap_servers");
    cluster.sim_url = table.text("sim_url").value_or("");
    while (!cluster.sim_url.empty() && cluster.sim_url.back() == '/') cluster.sim_url.pop_back();
    if (!cluster.sim_url.empty() && !is_http_url(cluster.sim_url))
        table.fault("sim_url", "must start with http://, not '" + cluster.sim_url + "'");
    cluster.client = table.properties("client");
    if (cluster.client.count("bootstrap.servers") != 0) {
        table.fault("client", "bootstrap.servers belongs in the key bootstrap_servers");
    }
    if (auto v = table.integer("scrape_timeout_ms", 100, 60'000))
        cluster.scrape_timeout = std::chrono::milliseconds{*v};
    if (auto child = table.table("guards")) {
        auto guards = read_guards(*child);
        if (!guards) return tl::unexpected(guards.error());
        cluster.guards = std::move(*guards);
    }
    std::set<int> ids;
    std::set<std::string> urls;
    for (auto& child : table.tables("metrics")) {
        auto metrics = read_metrics(child);
        if (!metrics) return tl::unexpected(metrics.error());
        if (!ids.insert(metrics->broker_id).second) {
            table.fault("metrics", "broker " + std::to_string(metrics->broker_id) + " is listed twice");
        }
        if (!urls.insert(metrics->url).second)
            table.fault("metrics", metrics->url + " is given for two brokers");
        cluster.metrics.push_back(*metrics);
    }
    if (auto child = table.table("prometheus")) {
        auto server = read_prometheus(*child);
        if (!server) return tl::unexpected(server.error());
        cluster.prometheus = std::move(*server);
    }
    if (cluster.prometheus && !cluster.metrics.empty()) {
        table.fault("prometheus",
                    "cluster '" + cluster.name +
                        "' has [[clusters.metrics]] as well: brokers are either scraped or read "
                        "from a Prometheus server; keep one of the two");
    }
    if (!cluster.prometheus && cluster.metrics.empty()) {
        table.fault("metrics",
                    "cluster '" + cluster.name +
                        "' has no metrics: add a [[clusters.metrics]] with broker_id and url for each "
                        "broker, or a [clusters.prometheus]");
    }
    if (auto ok = table.finish(); !ok) return tl::unexpected(ok.error());
    return cluster;
}

tl::expected<AgentEndpoint, Error> read_agent(TomlTable& table) {
    AgentEndpoint agent;
    agent.url = server_url(table);
    agent.name = table.text("name").value_or(is_http_url(agent.url) ? agent.url.substr(7) : agent.url);
    agent.token = secret(table, "token_file");
    if (auto ok = table.finish(); !ok) return tl::unexpected(ok.error());
    return agent;
}

}  // namespace

const ClusterConfig* ControllerConfig::cluster(const std::string& name) const {
    for (const auto& c : clusters) {
        if (c.name == name) return &c;
    }
    return nullptr;
}

tl::expected<ControllerConfig, Error> parse_controller_config(const std::string& text,
                                                              const std::string& origin) {
    const auto parsed = parse_toml(text, origin);
    if (!parsed) return tl::unexpected(parsed.error());
    ControllerConfig config;
    TomlTable table(*parsed, origin, "");
    if (auto v = table.text("listen")) config.listen = *v;
    config.token = secret(table, "token_file");
    if (auto v = table.text("database")) config.database = *v;
    if (auto v = table.text("topic_prefix")) config.topic_prefix = *v;
    if (!is_name(config.topic_prefix))
        table.fault("topic_prefix", "may have letters, digits, '.', '_' and '-'");
    if (auto v = table.text("log_level")) config.log_level = *v;
    static const std::set<std::string> levels{"debug", "info", "warn", "error"};
    if (levels.count(config.log_level) == 0) {
        table.fault("log_level", "must be debug, info, warn or error, not '" + config.log_level + "'");
    }
    if (auto v = table.integer("lease_ms", 2'000, 60'000)) config.lease = std::chrono::milliseconds{*v};
    if (auto v = table.integer("max_producers", 1, 100'000)) config.max_producers = static_cast<int>(*v);
    if (auto v = table.integer("foreign_mb_per_s_above", 0, 1'000'000)) {
        config.foreign_mb_per_s_above = static_cast<double>(*v);
    }
    for (const auto& file : table.texts("metrics_profiles").value_or(std::vector<std::string>{})) {
        auto profile = read_metrics_profile(file);
        if (!profile) return tl::unexpected(profile.error().within(origin + ": metrics_profiles"));
        config.metrics_profiles.push_back(std::move(*profile));
    }
    for (auto& child : table.tables("clusters")) {
        auto cluster = read_cluster(child);
        if (!cluster) return tl::unexpected(cluster.error());
        if (config.cluster(cluster->name))
            table.fault("clusters", "cluster '" + cluster->name + "' is listed twice");
        config.clusters.push_back(std::move(*cluster));
    }
    std::set<std::string> names;
    std::set<std::string> urls;
    for (auto& child : table.tables("agents")) {
        auto agent = read_agent(child);
        if (!agent) return tl::unexpected(agent.error());
        if (!names.insert(agent->name).second)
            table.fault("agents", "agent '" + agent->name + "' is listed twice");
        if (!urls.insert(agent->url).second)
            table.fault("agents", "agent " + agent->url + " is listed twice");
        config.agents.push_back(std::move(*agent));
    }
    if (auto ok = table.finish(); !ok) return tl::unexpected(ok.error());
    if (auto ok = check_listen_address(config); !ok) return tl::unexpected(ok.error().within(origin));
    return config;
}

tl::expected<void, Error> check_listen_address(const ControllerConfig& config) {
    if (is_loopback(config.listen) || !config.token.empty()) return {};
    return tl::unexpected(
        Error{ErrorCode::configuration,
              "listen: " + config.listen + " is not loopback, so a token is needed: set token_file",
              {}});
}

}  // namespace brink

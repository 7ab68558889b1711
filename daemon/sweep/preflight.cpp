#include "daemon/sweep/preflight.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "daemon/sweep/guards.hpp"
#include "daemon/sweep/throttles.hpp"
#include "daemon/sweep/topic_look.hpp"

namespace brink {
namespace {

constexpr std::chrono::milliseconds kAdminDeadline{8'000};
/// What a record batch of one message adds to its payload, generously.
constexpr std::int64_t kBatchOverhead = 128;
constexpr int kMinScrapes = JudgeRules{}.min_scrapes;
/// Measured intervals are off by a millisecond or two, which is no reason to refuse what fits exactly.
constexpr double kAboutEqual = 1.01;

BrokerCheck look_at_broker(const BrokerInfo& info, const ClusterConfig& config, Cluster& cluster,
                           const MetricsSource& metrics, const std::vector<Scrape>& scrapes,
                           Preflight& look) {
    BrokerCheck broker{.info = info};
    const auto configured = metrics.broker_ids();
    if (std::find(configured.begin(), configured.end(), info.id) == configured.end()) {
        broker.reading =
            tl::unexpected(Error{ErrorCode::configuration, "no metrics address is configured", {}});
        look.problems.push_back(
            fmt::format("broker {} has no metrics address: add a [[clusters.{}]] with broker_id = {}",
                        info.id, config.prometheus ? "prometheus.brokers" : "metrics", info.id));
    } else {
        broker.metrics_url = metrics.origin(info.id);
        for (const auto& scrape : scrapes) {
            if (scrape.broker_id != info.id) continue;
            if (!broker.earlier && broker.reading) broker.earlier = *broker.reading;
            broker.reading = scrape.reading;
        }
        if (!broker.reading)
            look.problems.push_back(fmt::format("broker {}: {}", info.id, broker.reading.error().message));
    }
    auto settings = cluster.broker_config(info.id, kAdminDeadline);
    if (!settings) {
        look.warnings.push_back(
            fmt::format("configuration of broker {} is not known: {}", info.id, settings.error().message));
        return broker;
    }
    broker.config = std::move(*settings);
    if (const auto limit = broker.config.find("message.max.bytes"); limit != broker.config.end()) {
        broker.message_max_bytes = std::strtoll(limit->second.c_str(), nullptr, 10);
    }
    const auto throttles = left_behind_throttles(info.id, broker.config);
    look.problems.insert(look.problems.end(), throttles.problems.begin(), throttles.problems.end());
    look.warnings.insert(look.warnings.end(), throttles.warnings.begin(), throttles.warnings.end());
    return broker;
}

}  // namespace

int replication_factor(const SweepSpec& spec, std::size_t brokers) {
    return spec.replication_factor.value_or(static_cast<int>(std::min<std::size_t>(3, brokers)));
}

tl::expected<Preflight, Error> look_at(const ClusterConfig& config, Cluster& cluster, MetricsSource& metrics,
                                       std::vector<fleet::AgentStatus> agents) {
    auto described = cluster.describe(kAdminDeadline);
    if (!described) return tl::unexpected(described.error().within("cluster '" + config.name + "'"));
    Preflight look{.cluster = std::move(*described), .agents = std::move(agents)};
    const auto scrapes = metrics.scrape_all(config.scrape_timeout);
    for (const auto& info : look.cluster.brokers) {
        look.brokers.push_back(look_at_broker(info, config, cluster, metrics, scrapes, look));
    }
    if (const auto layout = cluster.layout(kAdminDeadline)) {
        for (const auto& topic : topics_on_the_move(*layout))
            look.warnings.push_back(topic + ": is it being reassigned?");
    } else {
        look.warnings.push_back("whether partitions are being reassigned is not known: " +
                                layout.error().message);
    }
    LatestReadings readings;
    for (const auto& broker : look.brokers) {
        if (broker.reading) readings.emplace(broker.info.id, *broker.reading);
    }
    if (const auto missing = unwatched(config.guards, readings); !missing.empty() && !readings.empty())
        look.warnings.push_back(fmt::format("not watched during trials: {}", fmt::join(missing, "; ")));
    for (const int id : metrics.broker_ids()) {
        const bool known = std::any_of(look.cluster.brokers.begin(), look.cluster.brokers.end(),
                                       [&](const BrokerInfo& b) { return b.id == id; });
        if (!known) {
            look.problems.push_back(
                fmt::format("broker {} has a metrics address but is not in the cluster: is it down, or "
                            "the broker_id wrong?",
                            id));
        }
    }
    look.sampling_interval_s = metrics.sampling_interval_s();
    static const SweepSpec kDefaults;
    if (const double needed = kMinScrapes * look.sampling_interval_s; needed > kDefaults.measure_s) {
        look.warnings.push_back(fmt::format(
            "the brokers are scraped every {:.4g} s, so trial.measure_s must be at least {:.0f}; shorten "
            "their scrape_interval in Prometheus for shorter trials",
            look.sampling_interval_s, std::ceil(needed)));
    }
    const auto ready = std::count_if(look.agents.begin(), look.agents.end(),
                                     [](const fleet::AgentStatus& a) { return a.state == "ready"; });
    if (look.agents.empty())
        look.problems.emplace_back("no agent is configured: add an [[agents]] with its url");
    for (const auto& agent : look.agents) {
        if (agent.state != "ready") (ready == 0 ? look.problems : look.warnings).push_back(agent.reason);
    }
    return look;
}

tl::expected<void, Error> check_fits(const SweepSpec& spec, const Preflight& look) {
    Error refused{ErrorCode::invalid_input, "the spec does not fit the cluster", {}};
    const auto custom = spec.topic_config.find("max.message.bytes");
    for (const auto& broker : look.brokers) {
        const auto limit = custom != spec.topic_config.end()
                               ? std::strtoll(custom->second.c_str(), nullptr, 10)
                               : broker.message_max_bytes;
        for (std::size_t i = 0; limit > 0 && i < spec.message_bytes.size(); ++i) {
            if (spec.message_bytes[i] + kBatchOverhead <= limit) continue;
            refused.details.push_back({"/message_bytes/" + std::to_string(i),
                                       fmt::format("{} bytes do not fit into the limit of {} bytes "
                                                   "(message.max.bytes of broker {}): leave the size "
                                                   "out or set max.message.bytes in topic.config",
                                                   spec.message_bytes[i], limit, broker.info.id)});
        }
        if (!refused.details.empty()) break;
    }
    if (replication_factor(spec, look.brokers.size()) > static_cast<int>(look.brokers.size())) {
        refused.details.push_back(
            {"/topic/replication_factor", fmt::format("{} copies need as many brokers, the cluster has {}",
                                                      *spec.replication_factor, look.brokers.size())});
    }
    if (const double needed = kMinScrapes * look.sampling_interval_s; needed > spec.measure_s * kAboutEqual) {
        refused.details.push_back(
            {"/trial/measure_s",
             fmt::format(
                 "{:.4g} s hold {:.0f} samples of a broker that Prometheus scrapes every {:.4g} s, and a "
                 "verdict needs {}: set it to {:.0f} or more, or scrape_interval of these targets to {:.4g} "
                 "s "
                 "or less",
                 spec.measure_s, std::floor(spec.measure_s / look.sampling_interval_s),
                 look.sampling_interval_s, kMinScrapes, std::ceil(needed), spec.measure_s / kMinScrapes)});
    }
    const bool throttled = std::any_of(look.brokers.begin(), look.brokers.end(), [](const BrokerCheck& b) {
        const auto left = left_behind_throttles(b.info.id, b.config);
        return !left.warnings.empty() || !left.problems.empty();
    });
    if (throttled && lists_throttled_replicas(spec.topic_config)) {
        refused.details.push_back(
            {"/topic/config",
             "it lists throttled replicas, and brokers have a replication throttle: the "
             "throttle would be measured and not the cluster"});
    }
    if (!refused.details.empty()) {
        for (const auto& d : refused.details) refused.message += "; " + d.pointer + ": " + d.detail;
        return tl::unexpected(refused);
    }
    if (!look.problems.empty()) {
        Error error{ErrorCode::unavailable,
                    fmt::format("the sweep cannot start: {}", fmt::join(look.problems, "; ")),
                    {}};
        for (const auto& p : look.problems) error.details.push_back({"", p});
        return tl::unexpected(error);
    }
    return {};
}

}  // namespace brink

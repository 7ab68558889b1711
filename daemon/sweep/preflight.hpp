#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "agents/fleet/fleet.hpp"
#include "config/controller_config.hpp"
#include "config/sweep_spec.hpp"
#include "daemon/cluster/cluster.hpp"
#include "daemon/metrics/metrics_source.hpp"
#include "search/error.hpp"

namespace brink {

/// One broker as it looks before a sweep.
struct BrokerCheck {
    BrokerInfo info{};
    std::string metrics_url{};
    tl::expected<ScrapeReading, Error> reading = tl::unexpected(Error{});
    std::optional<ScrapeReading> earlier{};  ///< an older one, where the source had more than one
    std::map<std::string, std::string> config{};
    std::int64_t message_max_bytes = 0;  ///< 0: not known
};

/// What a look at a cluster, its metrics and the agents showed. `problems` forbid a sweep, `warnings` do not.
struct Preflight {
    ClusterInfo cluster{};
    std::vector<BrokerCheck> brokers{};
    std::vector<fleet::AgentStatus> agents{};
    /// Between the samples of a source that is fed by somebody else, in seconds; 0 where brink scrapes
    /// itself.
    double sampling_interval_s = 0;
    std::vector<std::string> problems{};
    std::vector<std::string> warnings{};
};

/// Looks at everything a sweep needs, without load. Takes a few seconds at most. Errors: unavailable
/// (bootstrap servers).
tl::expected<Preflight, Error> look_at(const ClusterConfig& config, Cluster& cluster, MetricsSource& metrics,
                                       std::vector<fleet::AgentStatus> agents);

/// Whether this spec can run on that cluster. Errors: invalid_input with pointers (a size over the limit, a
/// replication factor over the brokers, a window that holds too few of the source's samples), unavailable
/// (problems of the look).
tl::expected<void, Error> check_fits(const SweepSpec& spec, const Preflight& look);

/// The spec's replication factor on a cluster of so many brokers.
int replication_factor(const SweepSpec& spec, std::size_t brokers);

}  // namespace brink

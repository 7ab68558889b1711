#pragma once
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "config/guard_config.hpp"
#include "daemon/metrics/metrics_source.hpp"
#include "daemon/sweep/clock.hpp"
#include "search/error.hpp"
#include "search/verdict.hpp"

namespace brink {

struct RestSettings {
    double observe_s = 12;
    double scrape_interval_s = 1;
    std::chrono::milliseconds scrape_timeout{4'000};
    double sub_window_s = 5;
    double foreign_bytes_per_s_above = 1e6;  ///< client traffic at rest that makes a cluster unfit
    double churn_above = 0.5;                ///< share of sub-windows
    double recovery_deadline_s = 300;
    double idle_within = 0.10;  ///< of the value at rest: recovered
    GuardConfig guards{};       ///< one that trips without load would void every trial
};

/// What observing a cluster without load of ours showed, and why that forbids judging it (empty: it does
/// not).
struct RestReport {
    std::vector<RestReading> readings{};
    std::vector<std::string> problems{};
    /// By broker; do not forbid: a broker that has just started looks busier than it is.
    std::map<int, std::vector<std::string>> warnings{};
};

/// Why a broker counts as just restarted (up for less than 2 min), by the start of its process or, where that
/// is not exported, by an idle counter that holds less than that; nothing when it is old enough, or when
/// nothing tells. Pure.
std::optional<std::string> just_restarted(const BrokerSample& sample, double unix_s);

/// Observes every broker for `observe_s` before the first trial. Errors: cancelled.
tl::expected<RestReport, Error> observe_rest(MetricsSource& metrics, Clock& clock,
                                             const RestSettings& settings, const std::stop_token& stop);

/// Waits until every broker is as idle as at rest (within `idle_within`, over three scrapes) and no partition
/// lacks a replica. Errors: timed_out, saying which broker is not back; cancelled.
tl::expected<void, Error> recover_to_rest(MetricsSource& metrics, Clock& clock, const RestSettings& settings,
                                          const std::vector<RestReading>& rest, const std::stop_token& stop);

}  // namespace brink

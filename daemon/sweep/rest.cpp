#include "daemon/sweep/rest.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "daemon/sweep/observation.hpp"

namespace brink {
namespace {

/// A pool at rest reads about 1, two pools on one meter about 2. Anything else is not a cluster at rest.
constexpr double kBusyAtRest = 0.7;
constexpr double kOnePool = 1.1;
constexpr double kTwoPoolsFrom = 1.5;
constexpr double kTwoPoolsTo = 2.2;

double bytes_in_rate(const BrokerWindow& window) {
    const auto& samples = window.samples;
    if (samples.size() < 2 || !samples.front().bytes_in || !samples.back().bytes_in) return 0;
    return (*samples.back().bytes_in - *samples.front().bytes_in) /
           (samples.back().at_s - samples.front().at_s);
}

void add_problems(RestReport& report, const BrokerWindow& window, const RestReading& reading,
                  const RestSettings& settings) {
    const auto id = window.broker_id;
    const bool plausible =
        reading.idle <= kOnePool || (reading.idle >= kTwoPoolsFrom && reading.idle <= kTwoPoolsTo);
    if (reading.idle < kBusyAtRest) {
        report.problems.push_back(
            fmt::format("broker {} is only {:.2f} idle without load from brink: something else uses it", id,
                        reading.idle));
    } else if (!plausible) {
        report.problems.push_back(fmt::format(
            "the idle meter of broker {} reads {:.2f} at rest, which is neither one pool (1) nor two (2)", id,
            reading.idle));
    }
    if (reading.isr_churn > settings.churn_above) {
        report.problems.push_back(
            fmt::format("in-sync replicas of broker {} changed in {:.0f} % of the time without load: the "
                        "cluster is not healthy",
                        id, reading.isr_churn * 100));
    }
    if (reading.bytes_in_per_s > settings.foreign_bytes_per_s_above) {
        report.problems.push_back(fmt::format(
            "broker {} takes {:.2f} MB/s from other clients (limit {:.2f}): this is not an isolated cluster",
            id, reading.bytes_in_per_s / 1e6, settings.foreign_bytes_per_s_above / 1e6));
    }
}

/// Scrapes every `interval` until `end`; false when asked to stop.
bool observe(MetricsSource& metrics, Clock& clock, const RestSettings& settings, double end,
             Observation& seen, const std::stop_token& stop) {
    for (double due = clock.now_s(); due <= end;
         due = std::max(due + settings.scrape_interval_s, clock.now_s())) {
        if (!clock.wait_until(due, stop)) return false;
        seen.scrape(metrics, clock, settings.scrape_timeout);
    }
    return !stop.stop_requested();
}

/// The longest window that any broker's kind of idle needs.
double least_window_s(const Observation& seen) {
    double longest = 0;
    for (const auto& scrape : seen.all()) {
        if (scrape.reading) longest = std::max(longest, brink::least_window_s(scrape.reading->sample));
    }
    return longest;
}

Error cancelled() { return Error{ErrorCode::cancelled, "cancelled", {}}; }

/// Why the last three scrapes do not show a cluster at rest; empty when they do.
std::string not_at_rest(const Observation& seen, double now, const RestSettings& settings,
                        const std::vector<RestReading>& rest) {
    for (auto& window : seen.between(0, now)) {
        const auto id = window.broker_id;
        auto& samples = window.samples;
        if (samples.size() < 3) return fmt::format("broker {} answers no scrape", id);
        samples.erase(samples.begin(), samples.end() - 3);
        const auto reading =
            std::find_if(rest.begin(), rest.end(), [&](const RestReading& r) { return r.broker_id == id; });
        const double at_rest = reading == rest.end() ? 1.0 : reading->idle;
        // A moving average lags behind: when it says idle, it has been for a while.
        const auto idle = least_window_s(samples.back()) > 0 ? samples.back().idle_gauge : idle_over(window);
        if (!idle) return fmt::format("the idle of broker {} cannot be read", id);
        if (*idle < at_rest - settings.idle_within) {
            return fmt::format("broker {} is {:.2f} idle, at rest it was {:.2f}", id, *idle, at_rest);
        }
        if (samples.back().under_replicated.value_or(0) > 0) {
            return fmt::format("broker {} has {:.0f} under-replicated partitions", id,
                               *samples.back().under_replicated);
        }
    }
    return {};
}

}  // namespace

tl::expected<RestReport, Error> observe_rest(MetricsSource& metrics, Clock& clock,
                                             const RestSettings& settings, const std::stop_token& stop) {
    const double from = clock.now_s();
    double to = from + settings.observe_s;
    Observation seen(metrics.broker_ids());
    if (!observe(metrics, clock, settings, to, seen, stop)) return tl::unexpected(cancelled());
    // Where idle is a moving average, rest too has to last until it has settled.
    if (const double needed = least_window_s(seen); needed > settings.observe_s) {
        to = from + needed + settings.scrape_interval_s;
        if (!observe(metrics, clock, settings, to, seen, stop)) return tl::unexpected(cancelled());
    }
    RestReport report;
    for (const auto& window : seen.between(from, clock.now_s())) {
        const auto idle = idle_over(window);
        if (!idle) {
            report.problems.push_back(fmt::format("the idle of broker {} cannot be read{}{}",
                                                  window.broker_id, window.last_error.empty() ? "" : ": ",
                                                  window.last_error));
            continue;
        }
        RestReading reading{.broker_id = window.broker_id, .idle = *idle};
        reading.isr_churn = isr_churn_over({window}, from, to, settings.sub_window_s).value_or(0);
        reading.bytes_in_per_s = bytes_in_rate(window);
        add_problems(report, window, reading, settings);
        report.readings.push_back(reading);
    }
    return report;
}

tl::expected<void, Error> recover_to_rest(MetricsSource& metrics, Clock& clock, const RestSettings& settings,
                                          const std::vector<RestReading>& rest, const std::stop_token& stop) {
    const double deadline = clock.now_s() + settings.recovery_deadline_s;
    Observation seen(metrics.broker_ids());
    const double interval = std::min(1.0, settings.scrape_interval_s);
    std::string why = "no scrape was made";
    while (clock.now_s() < deadline) {
        const double due = clock.now_s() + interval;
        seen.scrape(metrics, clock, settings.scrape_timeout);
        why = not_at_rest(seen, clock.now_s(), settings, rest);
        if (why.empty()) return {};
        if (!clock.wait_until(due, stop)) return tl::unexpected(cancelled());
    }
    return tl::unexpected(Error{ErrorCode::timed_out,
                                fmt::format("the cluster did not come back to rest within {:.0f} s: {}",
                                            settings.recovery_deadline_s, why),
                                {}});
}

}  // namespace brink

#include "daemon/sweep/rest.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "daemon/sweep/guards.hpp"
#include "daemon/sweep/observation.hpp"

namespace brink {
namespace {

/// A pool at rest reads about 1, two pools on one meter about 2. Anything else is not a cluster at rest.
constexpr double kBusyAtRest = 0.7;
constexpr double kOnePool = 1.1;
constexpr double kTwoPoolsFrom = 1.5;
constexpr double kTwoPoolsTo = 2.2;
/// Until then a broker's code is not compiled and its caches are cold.
constexpr double kFresh_s = 120;
/// A client's byte is copied to two followers as a rule; to three, generously.
constexpr double kCopies = 3;

double bytes_in_rate(const BrokerWindow& window) {
    const auto& samples = window.samples;
    if (samples.size() < 2 || !samples.front().bytes_in || !samples.back().bytes_in) return 0;
    return (*samples.back().bytes_in - *samples.front().bytes_in) /
           (samples.back().at_s - samples.front().at_s);
}

/// Bytes/s that a broker fetches from others; nothing where it is not exported.
std::optional<double> replication_rate(const Observation& seen, int broker_id) {
    const ObservedScrape* first = nullptr;
    const ObservedScrape* last = nullptr;
    for (const auto& scrape : seen.all()) {
        if (scrape.broker_id != broker_id || !scrape.reading) continue;
        if (!scrape.reading->signals.contains("replication_bytes_in")) continue;
        if (!first) first = &scrape;
        last = &scrape;
    }
    if (!first || last->at_s <= first->at_s) return std::nullopt;
    const auto bytes = [](const ObservedScrape& s) { return s.reading->signals.at("replication_bytes_in"); };
    return (bytes(*last) - bytes(*first)) / (last->at_s - first->at_s);
}

/// What the whole cluster does without load from brink that it should not.
void add_cluster_problems(RestReport& report, const Observation& seen, const RestSettings& settings) {
    double clients = 0;
    for (const auto& reading : report.readings) clients += reading.bytes_in_per_s;
    const auto latest = seen.latest();
    for (const auto& [id, reading] : latest) {
        const auto at_rest =
            std::find_if(report.readings.begin(), report.readings.end(),
                         [&, broker = id](const RestReading& r) { return r.broker_id == broker; });
        if (reading.broker_meter && at_rest != report.readings.end() && at_rest->idle > kOnePool) {
            report.problems.push_back(fmt::format(
                "the broker's own idle meter of broker {} reads {:.2f} at rest, though it counts one "
                "pool only (1)",
                id, at_rest->idle));
        }
        const auto copied = replication_rate(seen, id).value_or(0);
        if (copied > settings.foreign_bytes_per_s_above + kCopies * clients) {
            report.problems.push_back(
                fmt::format("broker {} copies {:.2f} MB/s from other brokers while clients send {:.2f}: a "
                            "reassignment, or a replica that catches up, is under way",
                            id, copied / 1e6, clients / 1e6));
        }
        if (const auto fresh =
                just_restarted(reading.sample, static_cast<double>(reading.at_unix_ms) / 1e3)) {
            report.warnings[id].push_back(fmt::format("broker {} {}", id, *fresh));
        }
    }
    if (const auto trip = guard_on(settings.guards, latest))
        report.problems.push_back("a guard trips without load: " + trip->reason);
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

std::optional<std::string> just_restarted(const BrokerSample& sample, double unix_s) {
    if (sample.process_start_s) {
        const double age = unix_s - *sample.process_start_s;
        if (age >= kFresh_s) return std::nullopt;
        return fmt::format("started only {:.0f} s ago, and looks busier than it is for about {:.0f} s",
                           std::max(0.0, age), kFresh_s);
    }
    const double counted = sample.idle_ns.value_or(kFresh_s * 1e9) / 1e9;
    if (counted >= kFresh_s) return std::nullopt;
    return fmt::format(
        "seems to have just started: its idle counter holds {:.0f} s; it looks busier than it is for "
        "about {:.0f} s",
        counted, kFresh_s);
}

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
    add_cluster_problems(report, seen, settings);
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

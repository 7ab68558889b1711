#include "search/window_faults.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "search/statistics.hpp"
#include "search/wording.hpp"

namespace brink {
namespace {

using namespace wording;

constexpr double kSameStart_s = 1.0;  ///< exporters round the start of a process differently
constexpr double kClockJump_s = 1.0;
constexpr double kHoleInIntervals = 2.5;
/// Counters make up for a hole; what is lost is when things happened, and a few seconds of that are never
/// known.
constexpr double kShortestHole_s = 5.0;
constexpr double kSkewAbove = 1.5;
/// Clients fill a batch for one partition before they go on to the next: below this a broker's share is
/// chance.
constexpr double kBytesToCompare = 1e7;
constexpr double kMessagesToCompare = 1e3;
/// An idle median this far above the worst broker is not noise (windows scatter by 0.02–0.04).
constexpr double kFarAbove = 0.3;

struct Counter {
    const char* name;
    std::optional<double> BrokerSample::* reading;
};
constexpr std::array<Counter, 5> kCounters{{{"idle", &BrokerSample::idle_ns},
                                            {"ISR shrink", &BrokerSample::isr_shrinks},
                                            {"ISR expansion", &BrokerSample::isr_expands},
                                            {"bytes-in", &BrokerSample::bytes_in},
                                            {"messages-in", &BrokerSample::messages_in}}};

std::optional<std::string> restart_fault(const BrokerWindow& broker) {
    const BrokerSample* previous = nullptr;
    for (const auto& sample : broker.samples) {
        if (!sample.process_start_s) continue;
        if (previous && std::abs(*sample.process_start_s - *previous->process_start_s) > kSameStart_s)
            return broker_name(broker.broker_id) + " restarted during the window";
        previous = &sample;
    }
    return std::nullopt;
}

std::optional<std::string> reset_fault(const BrokerWindow& broker) {
    for (const auto& counter : kCounters) {
        const BrokerSample* previous = nullptr;
        for (const auto& sample : broker.samples) {
            const auto& now = sample.*counter.reading;
            if (!now) continue;
            if (previous && *now < *(previous->*counter.reading)) {
                const bool same_process = sample.process_start_s && previous->process_start_s;
                return std::string("the ") + counter.name + " counter of " + broker_name(broker.broker_id) +
                       " went back from " + number(*(previous->*counter.reading), "%.0f") + " to " +
                       number(*now, "%.0f") + " during the window: " +
                       (same_process ? "the broker restarted behind its exporter, or its metrics were reset"
                                     : "the broker restarted");
            }
            previous = &sample;
        }
    }
    return std::nullopt;
}

std::optional<std::string> clock_fault(const BrokerWindow& broker) {
    const BrokerSample* previous = nullptr;
    for (const auto& sample : broker.samples) {
        if (previous) {
            const double step = sample.at_s - previous->at_s;
            if (step < 0) {
                return "the scrapes of " + broker_name(broker.broker_id) + " go back in time by " +
                       number(-step, "%.1f") + " s";
            }
            if (sample.at_unix_s && previous->at_unix_s) {
                const double jump = *sample.at_unix_s - *previous->at_unix_s - step;
                if (std::abs(jump) > kClockJump_s) {
                    return "the controller's clock jumped by " + number(jump, "%+.1f") +
                           " s between two scrapes of " + broker_name(broker.broker_id) +
                           ": was its machine suspended, or its time set?";
                }
            }
        }
        previous = &sample;
    }
    return std::nullopt;
}

/// The usual step between two scrapes, so that a broker whose scrapes all take long has no holes.
double usual_step(const std::vector<BrokerSample>& samples) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < samples.size(); ++i) steps.push_back(samples[i].at_s - samples[i - 1].at_s);
    if (steps.empty()) return 0;
    return median_of(std::move(steps));
}

/// The agent that had this error, by the first of its messages.
const AgentWindow* with_error(const std::vector<AgentWindow>& agents, const std::string& code) {
    const auto found = std::find_if(agents.begin(), agents.end(), [&](const AgentWindow& a) {
        return std::find(a.error_codes.begin(), a.error_codes.end(), code) != a.error_codes.end();
    });
    return found == agents.end() ? nullptr : &*found;
}

/// The broker that takes too much of the traffic, and how many times the median.
std::optional<std::pair<int, double>> overfull(const std::vector<BrokerFigures>& brokers, double seconds) {
    if (brokers.size() < 2) return std::nullopt;
    std::vector<double> bytes;
    std::vector<double> messages;
    const BrokerFigures* most = &brokers.front();
    for (const auto& broker : brokers) {
        bytes.push_back(broker.bytes_in_per_s);
        messages.push_back(broker.messages_in_per_s);
        if (broker.bytes_in_per_s > most->bytes_in_per_s) most = &broker;
    }
    // The lower middle: of two brokers, the other one.
    const auto median = [](std::vector<double>& values) {
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
        std::nth_element(values.begin(), middle, values.end());
        return *middle;
    };
    const double typical = median(bytes);
    if (typical * seconds < kBytesToCompare || median(messages) * seconds < kMessagesToCompare)
        return std::nullopt;
    const double times = most->bytes_in_per_s / typical;
    if (times <= kSkewAbove) return std::nullopt;
    return std::pair{most->broker_id, times};
}

}  // namespace

std::optional<std::string> broker_event(const BrokerWindow& broker) {
    // A restart resets counters, so it is looked for first.
    if (auto fault = restart_fault(broker)) return fault;
    if (auto fault = clock_fault(broker)) return fault;
    return reset_fault(broker);
}

std::optional<std::string> scrape_gap(const BrokerWindow& broker, const TrialWindow& window) {
    // A broker that was never read is a matter of the missing share, and without an interval nothing is a
    // hole.
    if (window.scrape_interval_s <= 0 || broker.samples.empty()) return std::nullopt;
    const double interval = std::max(window.scrape_interval_s, usual_step(broker.samples));
    const double limit = std::max(kHoleInIntervals * interval, kShortestHole_s);
    double last = window.from_s;
    double longest = 0;
    for (const auto& sample : broker.samples) {
        longest = std::max(longest, sample.at_s - last);
        last = sample.at_s;
    }
    longest = std::max(longest, window.to_s - last);
    if (longest <= limit) return std::nullopt;
    return "scrapes of " + broker_name(broker.broker_id) + " are missing for " + number(longest, "%.1f") +
           " s in one piece (limit " + number(limit, "%.1f") + " s)" +
           (broker.last_error.empty() ? "" : ", the last because: " + broker.last_error);
}

std::optional<std::string> size_fault(const std::vector<AgentWindow>& agents) {
    for (const char* code : {"MSG_SIZE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"}) {
        if (const auto* agent = with_error(agents, code)) {
            return std::string("messages of this size are refused (") + code + " on agent " + agent->agent +
                   "): raise max.message.bytes of the topic, message.max.bytes of the client, or leave the "
                   "size out";
        }
    }
    return std::nullopt;
}

std::vector<std::string> judged_faults(const Verdict& judged, const TrialWindow& window) {
    std::vector<std::string> faults;
    const bool overloaded = judged.published == VerdictKind::overloaded;
    for (const char* code : {"NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"}) {
        const auto* agent = with_error(window.agents, code);
        if (!agent || overloaded) continue;
        faults.push_back(std::string("partitions had fewer replicas in sync than min.insync.replicas asks "
                                     "for (") +
                         code + " on agent " + agent->agent + "), though the brokers show no overload");
        break;
    }
    if (!window.leaders_equal) return faults;
    const auto skewed = overfull(judged.brokers, window.to_s - window.from_s);
    const auto* idle = judged.figure("io_idle");
    // Under overload a broker that copes takes more than those that do not; that is no skew.
    const bool decides = idle && idle->fired && skewed && idle->broker_id == skewed->first;
    if (skewed && (!overloaded || decides)) {
        faults.push_back("the load is skewed: " + broker_name(skewed->first) + " takes " +
                         number(skewed->second, "%.1f") +
                         " times the bytes of the median broker though all lead equally many partitions; a "
                         "limit would be that broker's alone");
    }
    return faults;
}

std::optional<std::string> one_slow_broker(const Verdict& judged) {
    const auto* idle = judged.figure("io_idle");
    if (!idle || !idle->fired || idle->broker_id < 0 || judged.brokers.size() < 2 || !judged.median_idle)
        return std::nullopt;
    if (*judged.median_idle < idle->value + kFarAbove || *judged.median_idle < idle->threshold + kFarAbove)
        return std::nullopt;
    return "only " + broker_name(idle->broker_id) + " is short of idle time (" + percent(idle->value) +
           ", the median broker has " + percent(*judged.median_idle) +
           "): this is the limit of that broker, not of the cluster";
}

}  // namespace brink

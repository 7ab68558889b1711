#include "search/first_crossing.hpp"

#include <algorithm>

namespace brink {
namespace {

constexpr double kQueuedRequests = 8;
constexpr double kNetworkIdle = 0.3;
constexpr double kMessagesBehind = 10'000;
constexpr double kSlow_ms = 100;

}  // namespace

std::vector<SignalMark> signal_marks(const JudgeRules& rules) {
    return {{"io_idle", false, rules.io_idle_below},
            {"isr_churn", true, rules.isr_churn_above},
            {"delivery", false, rules.delivered_below},
            {"request_queue", true, kQueuedRequests},
            {"network_idle", false, kNetworkIdle},
            {"max_lag", true, kMessagesBehind},
            {"under_replicated", true, 0},
            {"produce_ms", true, kSlow_ms},
            {"p99_ms", true, kSlow_ms}};
}

std::vector<FirstCrossing> first_crossings(const std::vector<TrialSignals>& trials,
                                           const std::vector<SignalMark>& marks) {
    std::vector<FirstCrossing> table;
    for (const auto& mark : marks) {
        FirstCrossing first{.mark = mark};
        bool read = false;
        for (const auto& trial : trials) {
            const auto value = trial.values.find(mark.signal);
            if (value == trial.values.end()) continue;
            read = true;
            const bool lower = !first.msgs_per_s || trial.msgs_per_s < *first.msgs_per_s;
            if (!mark.crossed(value->second) || !lower) continue;
            first.msgs_per_s = trial.msgs_per_s;
            first.value = value->second;
        }
        if (read) table.push_back(std::move(first));
    }
    std::stable_sort(table.begin(), table.end(), [](const FirstCrossing& a, const FirstCrossing& b) {
        if (a.msgs_per_s.has_value() != b.msgs_per_s.has_value()) return a.msgs_per_s.has_value();
        return a.msgs_per_s && *a.msgs_per_s < *b.msgs_per_s;
    });
    return table;
}

}  // namespace brink

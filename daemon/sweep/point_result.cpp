#include "daemon/sweep/point_result.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "daemon/sweep/trial_record.hpp"
#include "daemon/sweep/window_signals.hpp"
#include "search/first_crossing.hpp"

namespace brink {
namespace {

using storage::TrialRow;

/// The latest trial at this load with this verdict.
const TrialRow* find(const std::vector<TrialRow>& trials, std::optional<ProducerCount> producers,
                     const char* verdict) {
    if (!producers) return nullptr;
    for (auto trial = trials.rbegin(); trial != trials.rend(); ++trial) {
        if (trial->producers == producers->value && trial->verdict == verdict) return &*trial;
    }
    return nullptr;
}

void add_flags(std::set<std::string>& flags, const TrialRow* trial) {
    if (!trial) return;
    const auto verdict = nlohmann::json::parse(trial->verdict_json, nullptr, false);
    if (!verdict.is_object()) return;
    for (const auto& flag : verdict.value("flags", std::vector<std::string>{})) flags.insert(flag);
}

/// Offered messages/s without the noise of binary fractions: 175 × 2.3 is 402.5.
double offered(const TrialRow& trial) { return std::round(trial.producers * trial.rate_each * 1e6) / 1e6; }

/// Deliveries tell the two ends apart: fine at the lower, short of what was due at the upper.
bool delivery_confirms(const TrialRow& lower, const TrialRow& upper) {
    constexpr double kDelivered = 0.995;
    auto share = [](const TrialRow& t) {
        return t.acked_msgs_per_s.value_or(0) / t.offered_msgs_per_s.value_or(1);
    };
    return share(lower) >= kDelivered && share(upper) < kDelivered;
}

/// Latency tells them apart: within its mark at the lower end, across it and clearly longer at the upper.
bool latency_confirms(const TrialRow& lower, const TrialRow& upper, const std::vector<SignalMark>& marks) {
    constexpr double kClearly = 1.5;
    if (!lower.p99_ms || !upper.p99_ms) return false;
    return std::any_of(marks.begin(), marks.end(), [&](const SignalMark& m) {
        return m.signal == "p99_ms" && !m.crossed(*lower.p99_ms) && m.crossed(*upper.p99_ms) &&
               *upper.p99_ms >= kClearly * *lower.p99_ms;
    });
}

}  // namespace

void conclude(storage::PointRow& point, const PointDone& done, const std::vector<TrialRow>& trials,
              std::size_t brokers, const JudgeRules& rules) {
    const auto* lower = find(trials, done.lower, "sustained");
    const auto* upper = find(trials, done.upper, "overloaded");
    std::set<std::string> flags(done.flags.begin(), done.flags.end());
    add_flags(flags, lower);
    add_flags(flags, upper);
    point.state = "done";
    point.trials = static_cast<int>(trials.size());
    if (lower) {
        point.lower_producers = lower->producers;
        point.lower_msgs_per_s = offered(*lower);
        point.measured_msgs_per_s = lower->acked_msgs_per_s;
        point.measured_mb_per_s =
            lower->acked_msgs_per_s.value_or(0) * static_cast<double>(point.message_bytes) / 1e6;
        point.broker_in_mb_per_s = lower->broker_in_mb_per_s;
        if (brokers > 0) point.mb_per_s_per_broker = *point.measured_mb_per_s / static_cast<double>(brokers);
        point.p50_ms = lower->p50_ms;
        point.p99_ms = lower->p99_ms;
        point.worst_idle = lower->worst_idle;
        point.isr_churn = lower->isr_churn;
    }
    if (upper) {
        point.upper_producers = upper->producers;
        point.upper_msgs_per_s = offered(*upper);
        point.limited_by = upper->limited_by;
    } else if (flags.count("generator_limited") != 0) {
        point.limited_by = "generator";
    }
    const auto marks = signal_marks(rules);
    point.first_crossings_json = to_json(first_crossings(signals_of(trials), marks)).dump();
    if (lower && upper) {
        const bool validated = delivery_confirms(*lower, *upper) || latency_confirms(*lower, *upper, marks);
        point.evidence = validated ? "validated" : "proxy_only";
    }
    point.flags.clear();
    for (const auto& flag : flags) point.flags += (point.flags.empty() ? "" : " ") + flag;
    if (!lower && upper) {
        point.state_reason = "one producer of " + std::to_string(upper->rate_each) +
                             " messages/s already overloads: set a lower producers.rate_each";
    }
}

}  // namespace brink

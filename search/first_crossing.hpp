#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/verdict.hpp"

namespace brink {

/// Where a recorded signal is said to show strain. A mark decides no verdict, unless a rule has the same one.
struct SignalMark {
    std::string signal;
    bool above = true;  ///< crossed above `mark`, else below it
    double mark = 0;
    [[nodiscard]] bool crossed(double value) const { return above ? value > mark : value < mark; }
};

/// The marks: those of the judging rules for io_idle, isr_churn and delivery, and for the others
/// request_queue > 8 requests (a default pool's threads: from there on requests wait), network_idle < 0.3
/// (Kafka's own advice), max_lag > 10,000 messages, under_replicated > 0 partitions,
/// produce_ms > 100 (a produce request inside a broker, mean), p99_ms > 100.
std::vector<SignalMark> signal_marks(const JudgeRules& rules);

/// One trial's signals over its window, each of the worst broker: gauges as means.
struct TrialSignals {
    double msgs_per_s = 0;  ///< offered
    std::map<std::string, double> values{};
};

/// The lowest load at which a signal was across its mark, and what it read there; empty where it never was.
struct FirstCrossing {
    SignalMark mark{};
    std::optional<double> msgs_per_s{};
    std::optional<double> value{};
};

/// The first-crossing table of a point: one entry for each mark whose signal any trial has, by load, those
/// that were never crossed last. Pass only trials that can be judged. Where one load was tried several times,
/// each counts by itself: a signal that crossed once has been seen to. Pure.
std::vector<FirstCrossing> first_crossings(const std::vector<TrialSignals>& trials,
                                           const std::vector<SignalMark>& marks);

}  // namespace brink

#include "daemon/sweep/trial_figures.hpp"

#include <algorithm>

#include "daemon/sweep/window_signals.hpp"
#include "search/first_crossing.hpp"

namespace brink {
namespace {

void sum_reports(TrialResult& result, std::int64_t first, std::int64_t last) {
    for (const auto& answer : result.reports) {
        if (!answer.report) continue;
        const auto totals = fleet::totals_between(*answer.report, first, last);
        result.totals.scheduled += totals.scheduled;
        result.totals.acked += totals.acked;
        fleet::merge(result.totals.latency, totals.latency);
    }
    const double seconds = std::max(1.0, result.to_s - result.from_s);
    result.offered_msgs_per_s = static_cast<double>(result.totals.scheduled) / seconds;
    result.acked_msgs_per_s = static_cast<double>(result.totals.acked) / seconds;
    result.p50_ms = fleet::quantile_ms(result.totals.latency, 0.50);
    result.p99_ms = fleet::quantile_ms(result.totals.latency, 0.99);
}

}  // namespace

void fill_figures(TrialResult& result, std::int64_t first, std::int64_t last, const JudgeRules& rules) {
    sum_reports(result, first, last);
    result.signals = gauges_between(result.scrapes, result.from_s, result.to_s, signal_marks(rules));
    if (result.verdict.worst_idle) result.signals["io_idle"] = *result.verdict.worst_idle;
    if (result.verdict.isr_churn) result.signals["isr_churn"] = *result.verdict.isr_churn;
    if (result.totals.scheduled > 0)
        result.signals["delivery"] =
            static_cast<double>(result.totals.acked) / static_cast<double>(result.totals.scheduled);
    if (result.p99_ms) result.signals["p99_ms"] = *result.p99_ms;
    for (const auto& broker : result.verdict.brokers) {
        result.broker_in_bytes_per_s += broker.bytes_in_per_s;
        if (!broker.produce_ms) continue;
        const auto [slowest, first_one] = result.signals.try_emplace("produce_ms", *broker.produce_ms);
        if (!first_one) slowest->second = std::max(slowest->second, *broker.produce_ms);
    }
}

}  // namespace brink

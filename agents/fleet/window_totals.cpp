#include "agents/fleet/window_totals.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace brink::fleet {
namespace {

constexpr double kCpuMark = 0.90;
constexpr double kQueueFullMark = 0.001;
constexpr double kSendLagMark_ms = 100;
/// Brokers that answer faster than this hardly keep five requests in flight waiting.
constexpr double kFastAnswer_ms = 10;
constexpr double kBucketsPerOctave = 8;

/// Geometric middle of a bucket.
double middle_ms(std::size_t bucket) {
    return std::exp2((static_cast<double>(bucket) + 0.5) / kBucketsPerOctave) / 1000.0;
}

std::string rounded(double value) { return std::to_string(std::lround(value)); }

double slowest(const std::map<int, double>& answer_ms) {
    double most = 0;
    for (const auto& [broker, ms] : answer_ms) most = std::max(most, ms);
    return most;
}

}  // namespace

WindowTotals totals_between(const protocol::TaskReport& report, std::int64_t first, std::int64_t last) {
    WindowTotals sum;
    std::map<int, int> readings;
    bool was_full = false;
    for (const auto& s : report.seconds) {
        const bool own_lag = !was_full && s.queue_full == 0;
        was_full = s.queue_full > 0;
        if (s.second < first || s.second >= last) continue;
        ++sum.seconds;
        sum.scheduled += s.scheduled;
        sum.sent += s.sent;
        sum.acked += s.acked;
        sum.failed += s.failed;
        sum.queue_full += s.queue_full;
        sum.unsent += s.unsent;
        sum.send_lag_p99_ms = std::max(sum.send_lag_p99_ms, s.send_lag_p99_ms);
        if (own_lag) sum.schedule_lag_p99_ms = std::max(sum.schedule_lag_p99_ms, s.send_lag_p99_ms);
        for (const auto& [broker, ms] : s.answer_ms) {
            ++readings[broker];
            sum.answer_ms[broker] += ms;
        }
        merge(sum.latency, s.latency);
        sum.throttled_ms += s.throttled_ms;
        sum.throttled_answers += s.throttled_answers;
        sum.longest_throttle_ms = std::max(sum.longest_throttle_ms, s.longest_throttle_ms);
    }
    for (auto& [broker, ms] : sum.answer_ms) ms /= readings[broker];
    return sum;
}

std::vector<std::string> saturation_of(const protocol::TaskReport& report, const WindowTotals& totals) {
    std::vector<std::string> evidence;
    if (report.load.cpu_share > kCpuMark) {
        evidence.push_back("uses " + rounded(report.load.cpu_share * 100) + " % of the CPU it may use");
    }
    if (totals.schedule_lag_p99_ms > kSendLagMark_ms) {
        evidence.push_back("it sent up to " + rounded(totals.schedule_lag_p99_ms) + " ms late (p99)");
    }
    const bool full = totals.scheduled > 0 && static_cast<double>(totals.queue_full) >
                                                  kQueueFullMark * static_cast<double>(totals.scheduled);
    const bool fast = !totals.answer_ms.empty() && slowest(totals.answer_ms) <= kFastAnswer_ms;
    if (full && (!evidence.empty() || fast)) {
        evidence.push_back("its local queue was full in " + std::to_string(totals.queue_full) + " of " +
                           std::to_string(totals.scheduled) + " sends" +
                           (fast ? ", though every broker answered within " +
                                       rounded(std::ceil(slowest(totals.answer_ms))) + " ms"
                                 : ""));
    }
    return evidence;
}

void merge(protocol::HistogramCounts& into, const protocol::HistogramCounts& from) {
    if (into.counts.size() < from.counts.size()) into.counts.resize(from.counts.size());
    for (std::size_t i = 0; i < from.counts.size(); ++i) into.counts[i] += from.counts[i];
}

std::optional<double> quantile_ms(const protocol::HistogramCounts& histogram, double q) {
    const auto total = std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0});
    if (total == 0) return std::nullopt;
    const double rank = std::max(1.0, std::ceil(q * static_cast<double>(total)));
    double below = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        below += static_cast<double>(histogram.counts[i]);
        if (below >= rank) return middle_ms(i);
    }
    return std::nullopt;
}

std::optional<double> mean_ms(const protocol::HistogramCounts& histogram) {
    double count = 0;
    double sum = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        count += static_cast<double>(histogram.counts[i]);
        sum += static_cast<double>(histogram.counts[i]) * middle_ms(i);
    }
    if (count <= 0) return std::nullopt;
    return sum / count;
}

}  // namespace brink::fleet

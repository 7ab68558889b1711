#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/protocol/messages.hpp"

namespace brink::fleet {

/// What one agent did for the messages due in a window of whole seconds.
struct WindowTotals {
    std::uint64_t scheduled = 0;
    std::uint64_t sent = 0;
    std::uint64_t acked = 0;
    std::uint64_t failed = 0;
    std::uint64_t queue_full = 0;
    std::uint64_t unsent = 0;
    double send_lag_p99_ms = 0;  ///< of the worst second
    /// The same of the worst second in which no local queue was full, nor in the one before: how late the
    /// agent itself was.
    double schedule_lag_p99_ms = 0;
    protocol::HistogramCounts latency{};
    double throttled_ms = 0;  ///< held back by brokers' quotas, all its producers together
    std::uint64_t throttled_answers = 0;
    double longest_throttle_ms = 0;
    std::map<int, double>
        answer_ms{};  ///< how long a broker took to answer, mean over the seconds that say it
    int seconds = 0;  ///< how many seconds of the window the report has
};

/// Sums the seconds [first, last) of a report. Pure.
WindowTotals totals_between(const protocol::TaskReport& report, std::int64_t first, std::int64_t last);

/// Evidence that this agent was short of something, by the default marks of the specification: CPU above 90 %
/// of what it may use, or send lag p99 above 100 ms while no local queue was full. A local queue that is full
/// in more than 0.1 % of sends is evidence beside one of these, or where every broker answers within 10 ms;
/// where brokers answer slowly it is they who fill it. Empty when there is none.
std::vector<std::string> saturation_of(const protocol::TaskReport& report, const WindowTotals& totals);

/// Adds the counts of one histogram to another.
void merge(protocol::HistogramCounts& into, const protocol::HistogramCounts& from);
/// Quantile q in [0, 1] in milliseconds (geometric middle of its bucket); nothing when the histogram is
/// empty.
std::optional<double> quantile_ms(const protocol::HistogramCounts& histogram, double q);
/// Mean in milliseconds, to the 9 % that a bucket spans; nothing when the histogram is empty.
std::optional<double> mean_ms(const protocol::HistogramCounts& histogram);

}  // namespace brink::fleet

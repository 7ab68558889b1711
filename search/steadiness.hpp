#pragma once
#include <optional>
#include <string>
#include <vector>

#include "search/verdict.hpp"

// Whether something still rises through a window. A mean over such a window describes neither its beginning
// nor its end, so no load is `sustained` by it. Pure.

namespace brink {

/// How a series moves over its time.
struct Trend {
    double slope = 0;      ///< per second: Theil and Sen's, the median over all pairs
    double rise = 0;       ///< over the whole time that the values span
    bool certain = false;  ///< Mann and Kendall's test, α = 0.01 on both sides
};

/// The trend of values in order of time, from the means of at most 12 equal blocks: neighbouring values
/// depend on each other, which the test does not allow for, and blocks hardly do. Nothing with fewer than 6.
std::optional<Trend> trend_of(const std::vector<TimedValue>& values);

/// What rises in the window, as sentences; empty when it is steady.
/// - `queue`: messages wait longer and longer for their acknowledgement: what part of the load is not
/// absorbed.
/// - `rest`: a broker's idle falls so that the window's end is below the threshold; a follower lags more and
/// more.
struct Unsteady {
    std::string queue{};
    std::vector<std::string> rest{};
    [[nodiscard]] bool any() const { return !queue.empty() || !rest.empty(); }
};
Unsteady unsteady_in(const TrialWindow& window, const Verdict& verdict, const JudgeRules& rules);

}  // namespace brink

#pragma once
#include <vector>

#include "search/verdict.hpp"

namespace brink {

/// What a look at a window that is still being measured says.
enum class Look {
    go_on,       ///< nothing is certain yet
    overloaded,  ///< it is, whatever else comes
    sustained    ///< so clearly that more of it would not change the verdict
};

/// How often a window may be looked at: a window that is looked at again and again until it says something is
/// confidently wrong in 32 to 45 % of the cases near the threshold. Looks are at 12, 18, 24, 30 and 36
/// scrapes of the broker that has the fewest, each at α = 0.01.
bool is_time_to_look(int scrapes);

/// Looks at what there is of a window. `sustained` needs a minute, since replicas leave up to 45 s late, an
/// idle that is not falling, and no sign of churn at all. Pure.
Look look_at(const TrialWindow& so_far, const std::vector<RestReading>& rest, const JudgeRules& rules);

/// Whether the deciding figure of a finished window lies within its uncertainty of its threshold: worth more
/// scrapes.
bool is_undecided(const Verdict& verdict);

}  // namespace brink

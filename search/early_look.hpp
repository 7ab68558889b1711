#pragma once
#include <vector>

#include "search/verdict.hpp"

// When a measuring window may end before its time, and when it must go on beyond it. Pure.

namespace brink {

/// What a look at an unfinished window says.
enum class Look { go_on, overloaded, sustained };

/// The least number of samples that any broker has in this window.
int fewest_samples(const TrialWindow& window);

/// Whether it is time for a look: there are 12, 18, 24, 30 or 36 samples of every broker now, and were not
/// before. Looking at each scrape instead, and stopping at the first that looks certain, would be wrong far
/// more often than any single look is.
bool look_is_due(int samples_before, int samples_now);

/// Looks at the window so far, by the brokers' own signals alone, since the agents' newest seconds are not
/// acknowledged yet.
/// - `overloaded`: the 99 % interval of the deciding figure lies wholly beyond its threshold.
/// - `sustained`: it lies wholly on the good side for idle and for churn, the window is at least 60 s long
/// (churn shows up to 45 s late), no partition lacks followers, and nothing rises.
/// - `go_on` in any other case, also where the window cannot be judged.
Look look_at(const TrialWindow& so_far, const std::vector<RestReading>& rest, const JudgeRules& rules);

/// Whether more of the same would tell: idle lies within its own uncertainty of the threshold, and no other
/// rule has said `overloaded`.
bool undecided(const Verdict& verdict);

/// How long a window that is undecided goes on, in whole s: six scrapes more.
double extension_s(double scrape_interval_s);

}  // namespace brink

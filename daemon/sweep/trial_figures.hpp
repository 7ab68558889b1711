#pragma once
#include <cstdint>

#include "daemon/sweep/trial_runner.hpp"

namespace brink {

/// Fills in what a judged trial's reports and scrapes add up to over the seconds [first, last) of the agents'
/// schedule: totals, rates, latencies, recorded signals. Needs the verdict, the reports, the scrapes and the
/// window. Pure.
void fill_figures(TrialResult& result, std::int64_t first, std::int64_t last, const JudgeRules& rules);

}  // namespace brink

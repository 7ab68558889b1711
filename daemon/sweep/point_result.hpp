#pragma once
#include <vector>

#include "search/boundary_search.hpp"
#include "search/verdict.hpp"
#include "storage/rows.hpp"

namespace brink {

/// Writes what a point's search found into its row: the bracket, what was measured at its lower end, what
/// limits it, the evidence, the first-crossing table and the flags. `trials` are the point's search trials in
/// order. The evidence is `validated` where deliveries or latency too tell the two ends apart (at least 99.5
/// % acknowledged at the lower only; or p99 at most 100 ms there, and above that and half as much again at
/// the upper), else `proxy_only`. Pure.
void conclude(storage::PointRow& point, const PointDone& done, const std::vector<storage::TrialRow>& trials,
              std::size_t brokers, const JudgeRules& rules);

}  // namespace brink

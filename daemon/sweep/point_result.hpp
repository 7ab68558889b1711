#pragma once
#include <vector>

#include "search/boundary_search.hpp"
#include "storage/rows.hpp"

namespace brink {

/// Writes what a point's search found into its row: the bracket, what was measured at its lower end, what
/// limits it, the evidence and the flags. `trials` are the point's search trials in order. Pure.
void conclude(storage::PointRow& point, const PointDone& done, const std::vector<storage::TrialRow>& trials,
              std::size_t brokers);

}  // namespace brink

#pragma once
#include <map>
#include <string>
#include <vector>

#include "daemon/sweep/observation.hpp"
#include "search/first_crossing.hpp"
#include "storage/rows.hpp"

namespace brink {

/// The recorded gauges that have a mark, over the window [from, to]: the mean of each broker's readings, and
/// of those the worst, which is the least where a low value is bad. Pure.
std::map<std::string, double> gauges_between(const std::vector<ObservedScrape>& scrapes, double from_s,
                                             double to_s, const std::vector<SignalMark>& marks);

/// A stored trial's signals with its offered load, for the first-crossing table. Nothing is read from an
/// invalid trial.
std::vector<TrialSignals> signals_of(const std::vector<storage::TrialRow>& trials);

}  // namespace brink

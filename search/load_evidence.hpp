#pragma once
#include <map>
#include <optional>
#include <vector>

#include "search/trial.hpp"

namespace brink {

/// What all valid trials of one load together say.
struct LoadEvidence {
    int trials = 0;
    VerdictKind kind = VerdictKind::invalid;  ///< `sustained`, `overloaded` or `generator_limited`
    /// Whether that stands: another trial of the same load is not expected to turn it.
    bool stands = false;
    std::optional<double> idle{};  ///< mean over the trials
    bool decided_by_idle = true;   ///< in every one of them
};

/// Gathers the trials of one load. Where idle decided, the mean reading is held against the threshold, and
/// stands when it is further from it than a third of its uncertainty (about 0.7 standard deviations);
/// otherwise the verdicts are counted, and a verdict by another rule than idle stands once it was seen twice.
/// After three trials everything stands. Pure.
LoadEvidence weigh(const std::vector<TrialOutcome>& trials, double io_idle_below);

/// Every load's evidence, by producers; invalid trials are left out. Pure.
std::map<int, LoadEvidence> weigh_all(const std::vector<TrialOutcome>& trials, double io_idle_below);

}  // namespace brink

#pragma once
#include <map>
#include <optional>

#include "search/load_evidence.hpp"

namespace brink {

/// Where the busy share is expected to reach `1 − io_idle_below`, in producers.
struct Prediction {
    double producers = 0;
    double exponent = 1;      ///< b of busy ≈ a · producers^b
    double nearest_busy = 0;  ///< of the reading it rests on most
};

/// Predicts a boundary from readings that are not saturated, by the utilisation law: the busy share of a
/// server is its arrival rate times its cost per message, so it grows with the load, linearly while the cost
/// stays the same and by a power near 1 where batching changes it. Nothing without such a reading. Pure.
std::optional<Prediction> predict_boundary(const std::map<int, LoadEvidence>& evidence, double io_idle_below);

}  // namespace brink

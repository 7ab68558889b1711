#include "search/utilisation.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace brink {
namespace {

/// Below this a reading is mostly noise, above it the threads are saturated and it says too little.
constexpr double kLeastBusy = 0.05;
constexpr double kMostBusy = 0.95;
/// Two loads this close together (as a logarithm) tell their noise rather than a slope.
constexpr double kApart = 0.18;
constexpr double kLeastExponent = 0.4;
constexpr double kMostExponent = 2.5;

struct Reading {
    double load;
    double busy;
};

std::vector<Reading> readings_of(const std::map<int, LoadEvidence>& evidence) {
    std::vector<Reading> readings;
    for (const auto& [load, seen] : evidence) {
        if (!seen.idle) continue;
        const double busy = 1 - *seen.idle;
        if (busy >= kLeastBusy && busy <= kMostBusy) readings.push_back({static_cast<double>(load), busy});
    }
    return readings;
}

}  // namespace

std::optional<Prediction> predict_boundary(const std::map<int, LoadEvidence>& evidence,
                                           double io_idle_below) {
    auto readings = readings_of(evidence);
    if (readings.empty()) return std::nullopt;
    const double target = 1 - io_idle_below;
    std::sort(readings.begin(), readings.end(), [&](const Reading& a, const Reading& b) {
        return std::abs(std::log(a.busy / target)) < std::abs(std::log(b.busy / target));
    });
    const auto& nearest = readings.front();
    // The slope comes from the next reading that is far enough away, where there is one.
    const auto other = std::find_if(readings.begin() + 1, readings.end(), [&](const Reading& r) {
        return std::abs(std::log(r.load / nearest.load)) >= kApart;
    });
    Prediction prediction{.nearest_busy = nearest.busy};
    if (other != readings.end()) {
        const double slope = std::log(other->busy / nearest.busy) / std::log(other->load / nearest.load);
        prediction.exponent = std::clamp(slope, kLeastExponent, kMostExponent);
    }
    prediction.producers = nearest.load * std::pow(target / nearest.busy, 1 / prediction.exponent);
    return prediction;
}

}  // namespace brink

#include "tests/bench/search_world.hpp"

#include <algorithm>
#include <cmath>

namespace brink::bench {
namespace {

constexpr double kThreshold = 0.8;
constexpr double kCurved = 1.8;
constexpr double kFlat = 0.6;
/// A cliff: 30 % busy just below, saturated just above.
constexpr double kBelowCliff = 0.3;
constexpr double kAboveCliff = 0.98;
constexpr double kDriftPerTrial = -0.10 / 20;
constexpr double kFalse = 0.02;
/// A trial of the method: warm-up and window, sub-windows of 5 s.
constexpr double kWarmUp_s = 60;
constexpr double kWindow_s = 120;
constexpr double kSubWindow_s = 5;
constexpr double kChurnAbove = 0.5;

}  // namespace

const std::vector<Shape>& all_shapes() {
    static const std::vector<Shape> shapes{Shape::linear, Shape::concave,       Shape::convex,
                                           Shape::cliff,  Shape::queueing,      Shape::isr_lag,
                                           Shape::drift,  Shape::false_verdicts};
    return shapes;
}

const char* to_string(Shape shape) {
    switch (shape) {
        case Shape::linear:
            return "linear";
        case Shape::concave:
            return "concave";
        case Shape::convex:
            return "convex";
        case Shape::cliff:
            return "cliff";
        case Shape::queueing:
            return "queueing";
        case Shape::isr_lag:
            return "isr_lag";
        case Shape::drift:
            return "drift";
        case Shape::false_verdicts:
            return "false_verdicts";
    }
    return "";
}

SearchWorld::SearchWorld(Shape shape, double boundary, double noise, std::uint64_t seed)
    : shape_(shape), first_boundary_(boundary), noise_(noise), random_(seed) {}

double SearchWorld::boundary() const {
    if (shape_ != Shape::drift) return first_boundary_;
    return first_boundary_ * (1 + kDriftPerTrial * trials_);
}

double SearchWorld::busy(double load) const {
    const double relative = load / boundary();
    switch (shape_) {
        case Shape::concave:
            return kThreshold * std::pow(relative, kFlat);
        case Shape::convex:
            return kThreshold * std::pow(relative, kCurved);
        case Shape::cliff:
            return relative <= 1 ? kBelowCliff * relative : kAboveCliff;
        // Threads that are found busy by chance, as in an open queue: 1 − e^−x, steep at first and then flat.
        case Shape::queueing:
            return 1 - std::pow(1 - kThreshold, relative);
        case Shape::isr_lag:
            return kThreshold / 2 * relative;
        default:
            return kThreshold * relative;
    }
}

TrialOutcome SearchWorld::trial(ProducerCount producers) {
    std::normal_distribution<double> wobble(0, 1);
    std::uniform_real_distribution<double> chance(0, 1);
    ++trials_;
    TrialOutcome outcome;
    outcome.producers = producers;
    const double idle = 1 - busy(producers.value) + noise_ * wobble(random_);
    outcome.worst_idle = std::clamp(idle, 0.0, 1.0);
    outcome.idle_uncertainty = 1.96 * noise_;
    bool over = idle < 1 - kThreshold;
    if (shape_ == Shape::isr_lag) {
        // Followers leave 15 to 45 s after the load began; past the boundary they flap in most of what is
        // left.
        const double lag_s = 15 + 30 * chance(random_);
        const double seen_s = kWindow_s - std::max(0.0, lag_s - kWarmUp_s);
        const double relative = producers.value / boundary();
        const double share = std::clamp(kChurnAbove + 3 * (relative - 1), 0.0, 1.0) * seen_s / kWindow_s;
        std::binomial_distribution<int> moved(static_cast<int>(kWindow_s / kSubWindow_s), share);
        const double churn = noise_ > 0 ? moved(random_) * kSubWindow_s / kWindow_s : share;
        over = churn > kChurnAbove;
        outcome.decided_by_idle = !over;
    }
    if (shape_ == Shape::false_verdicts && chance(random_) < kFalse) {
        // Something passing: a compaction, a backup, a broker's hiccup; or a lull.
        over = !over;
        outcome.worst_idle = over ? 0.1 : 0.3;
    }
    outcome.verdict = over ? VerdictKind::overloaded : VerdictKind::sustained;
    return outcome;
}

}  // namespace brink::bench

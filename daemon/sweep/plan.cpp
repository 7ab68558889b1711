#include "daemon/sweep/plan.hpp"

#include <algorithm>
#include <cmath>

#include "search/early_look.hpp"

namespace brink {
namespace {

constexpr double kPrepareAndTail_s = 3;
constexpr double kRecovery_s = 4;
constexpr double kCalibration_s = 45;
constexpr int kDoublings = 4;
/// `guided`: one load to learn from, one on either side of the prediction, and now and then one more.
constexpr int kGuidedTrials = 4;

int halvings(const SweepSpec& spec) {
    const double window = spec.producers_max ? *spec.producers_max : 100;
    return std::max(1, static_cast<int>(std::ceil(std::log2(1 / std::max(spec.margin, 1 / window)))));
}

}  // namespace

double trial_seconds(const SweepSpec& spec) {
    return spec.warm_up_s + spec.measure_s + kPrepareAndTail_s + kRecovery_s;
}

Plan plan_of(const SweepSpec& spec, int invalid_retries) {
    Plan plan;
    plan.points = static_cast<int>(spec.message_bytes.size());
    const bool guided = spec.strategy == "guided";
    const int per_point = guided ? std::min(kGuidedTrials, halvings(spec) + 1) : halvings(spec) + 1;
    const int repeats = spec.strategy == "bisection_best_of_3" ? 2 : 1;
    const int worst_repeats = spec.strategy == "bisection" ? 1 : 3;
    const int worst = halvings(spec) + 2 + invalid_retries + (spec.producers_max ? 0 : kDoublings);
    plan.trials_expected = plan.points * per_point * repeats;
    plan.trials_worst = plan.points * worst * worst_repeats;
    const double longest = trial_seconds(spec) + spec.max_extensions * extension_s(spec.scrape_interval_s);
    const double calibration = spec.rate_each.kind == RateEach::Kind::automatic ? kCalibration_s : 0;
    const double once = std::max(12 * spec.scrape_interval_s, 6.0);
    plan.minutes_expected =
        (once + plan.points * calibration + plan.trials_expected * trial_seconds(spec)) / 60;
    plan.minutes_worst = (once + plan.points * 3 * calibration + plan.trials_worst * longest) / 60;
    return plan;
}

}  // namespace brink

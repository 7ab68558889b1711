#include "daemon/sweep/rate_calibration.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace brink {
namespace {

constexpr double kFirstRate = 10;
constexpr double kProducers = 10;
constexpr double kEnoughBusy = 0.20;
constexpr double kTargetBusy = 0.80;
/// Where a first step goes that need not feel its way: busy enough to tell, far from saturated.
constexpr double kWarmBusy = 0.40;
constexpr double kExpectedProducers = 50;
/// Above this a broker is saturated, and its busy share no longer says how much was asked of it.
constexpr double kSaturated = 0.90;
/// Readings below this are noise: they say "little", not how little.
constexpr double kNoise = 0.02;
/// Readings above this are worth an extrapolation to `kAimBusy`.
constexpr double kTelling = 0.03;
constexpr double kAimBusy = 0.30;
constexpr int kMostSteps = 24;

/// How far to go at once. A reading that says something leads straight to one that is enough, since cost per
/// message falls with the rate if it changes at all; one that is noise allows as many doublings as surely
/// stay below the target.
double growth(double busy) {
    if (busy > kTelling) return std::max(1.5, kAimBusy / busy);
    const double factor = kEnoughBusy / std::max(busy, kNoise);
    return std::max(2.0, std::exp2(std::floor(std::log2(factor))));
}

}  // namespace

double two_digits(double value) {
    if (value <= 0) return 0;
    const double scale = std::pow(10.0, std::floor(std::log10(value)) - 1);
    return std::round(value / scale) * scale;
}

tl::expected<MessagesPerSecond, Error> calibrate_rate(const CalibrationStep& step,
                                                      std::optional<MessagesPerSecond> expected) {
    double rate = kFirstRate;
    std::string why = "first step: ten producers at 10 msg/s each";
    const bool warm = expected && expected->value > 0;
    if (warm) {
        rate = two_digits(expected->value * kExpectedProducers / kProducers * kWarmBusy / kTargetBusy);
        why = fmt::format(
            "first step: ten producers at half of the {:.4g} msg/s that the finished sizes let expect",
            expected->value * kExpectedProducers);
    }
    bool confirming = false;
    for (int n = 0; n < kMostSteps; ++n) {
        const auto reading = step({rate}, why);
        if (!reading) return tl::unexpected(reading.error());
        const bool enough =
            reading->busy >= kEnoughBusy || reading->generator_limited || reading->overloaded_otherwise;
        // A broker that has just started looks several times as busy as it is, so the reading that ends this
        // is taken twice and the second one counts.
        if (enough && !confirming && !warm) {
            confirming = true;
            why =
                fmt::format("{:.0f} % busy at {:.4g} msg/s each: read once more", reading->busy * 100, rate);
            continue;
        }
        confirming = false;
        if (reading->overloaded_otherwise && reading->busy < kSaturated)
            return MessagesPerSecond{two_digits(rate * kProducers / kExpectedProducers)};
        if (enough && reading->busy < kSaturated) {
            // Agents that give out first still allow an estimate; the search then finds what they can give.
            const double at_target = rate * kProducers * kTargetBusy / std::max(reading->busy, kNoise);
            return MessagesPerSecond{two_digits(at_target / kExpectedProducers)};
        }
        if (enough) {
            why = fmt::format("{:.0f} % busy at {:.4g} msg/s each is saturated: quartered",
                              reading->busy * 100, rate);
            rate /= 4;
        } else {
            const double factor = growth(reading->busy);
            why = fmt::format("{:.1f} % busy at {:.4g} msg/s each: times {:.2g}", reading->busy * 100, rate,
                              factor);
            rate = two_digits(rate * factor);
        }
    }
    return tl::unexpected(
        Error{ErrorCode::invalid_input,
              fmt::format("no rate per producer was found in {} steps (last {:.4g} msg/s): set "
                          "producers.rate_each in the spec",
                          kMostSteps, rate),
              {}});
}

}  // namespace brink

#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

// The few statistics that more than one rule needs. Pure.

namespace brink {

/// Quantiles of the normal distribution, and of Student's t with 5 degrees of freedom: the half-width of a
/// two-sided interval at 95 % and at 99 %, in standard deviations.
inline constexpr double kNormal95 = 1.96;
inline constexpr double kNormal99 = 2.576;
inline constexpr double kStudent5_95 = 2.571;
inline constexpr double kStudent5_99 = 4.032;

/// The median, the upper of the two middle ones of an even count; at least one value.
inline double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace brink

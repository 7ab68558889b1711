#include "search/warm_start.hpp"

#include <algorithm>
#include <cmath>

namespace brink {
namespace {

constexpr double kOffCurve = 0.25;

double middle(const FinishedPoint& point) { return std::sqrt(point.lower.value * point.upper.value); }

/// One over the squared uncertainty of the cost: its own size times the bracket's relative width.
double weight(const FinishedPoint& point) {
    const double cost = 1 / middle(point);
    const double share = std::max(0.01, (point.upper.value - point.lower.value) / middle(point));
    return 1 / (cost * cost * share * share);
}

}  // namespace

MessagesPerSecond MessageCost::rate(MessageSize size) const {
    const double cost = per_message + per_byte * static_cast<double>(size.value);
    return {cost > 0 ? 1 / cost : 0};
}

std::optional<MessageCost> fit_cost(const std::vector<FinishedPoint>& points) {
    double w = 0;
    double wx = 0;
    double wy = 0;
    double wxx = 0;
    double wxy = 0;
    for (const auto& point : points) {
        if (!(point.lower.value > 0) || !(point.upper.value >= point.lower.value)) continue;
        const double x = static_cast<double>(point.message_bytes.value);
        const double y = 1 / middle(point);
        const double k = weight(point);
        w += k;
        wx += k * x;
        wy += k * y;
        wxx += k * x * x;
        wxy += k * x * y;
    }
    if (w <= 0) return std::nullopt;
    const double spread = w * wxx - wx * wx;
    MessageCost cost;
    // Relative to what it is the difference of, or rounding would decide for equal sizes.
    if (spread > 1e-9 * w * wxx) cost.per_byte = std::max(0.0, (w * wxy - wx * wy) / spread);
    cost.per_message = (wy - cost.per_byte * wx) / w;
    if (cost.per_message < 0) {
        cost.per_message = 0;
        cost.per_byte = wxy / wxx;
    }
    return cost;
}

bool off_curve(const FinishedPoint& point, const std::vector<FinishedPoint>& others) {
    if (others.size() < 2 || !(point.lower.value > 0)) return false;
    const auto cost = fit_cost(others);
    if (!cost) return false;
    const double expected = cost->rate(point.message_bytes).value;
    return expected < point.lower.value * (1 - kOffCurve) || expected > point.upper.value * (1 + kOffCurve);
}

}  // namespace brink

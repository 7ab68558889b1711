#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "search/statistics.hpp"
#include "search/verdict.hpp"
#include "search/wording.hpp"

namespace brink {
namespace {

using namespace wording;

constexpr double kNsPerSecond = 1e9;
constexpr int kBatches = 6;  ///< 5 degrees of freedom
/// A moving average has forgotten what was before it, all but a seventh, after two of its time constants.
constexpr double kTimeConstants = 2;
/// How far the end of such an average may still be from what it is moving to.
constexpr double kSettledWithin = 0.05;
/// What the average's steps (5 s of 60) and the scrape's unknown moment leave open.
constexpr double kGaugeUncertainty = 0.02;
/// Moving averages over a few seconds are as good as the mean of their readings.
constexpr double kShortAverage_s = 10;

using Readings = std::vector<const BrokerSample*>;

/// The readings that show idle in the way in which the first one does.
Readings readings_of(const BrokerWindow& window) {
    Readings readings;
    for (const auto& s : window.samples) {
        if (!s.has_idle()) continue;
        const auto alike = [&](const BrokerSample& first) {
            return s.idle_ns.has_value() == first.idle_ns.has_value() &&
                   s.busy_s.size() == first.busy_s.size() && s.idle_gauge_s == first.idle_gauge_s;
        };
        if (readings.empty() || alike(*readings.front())) readings.push_back(&s);
    }
    return readings;
}

/// Idle share between two readings of counters.
double share_between(const BrokerSample& from, const BrokerSample& to) {
    const double seconds = to.at_s - from.at_s;
    if (from.idle_ns) return (*to.idle_ns - *from.idle_ns) / kNsPerSecond / seconds;
    double busiest = 0;
    for (std::size_t shard = 0; shard < from.busy_s.size(); ++shard)
        busiest = std::max(busiest, (to.busy_s[shard] - from.busy_s[shard]) / seconds);
    return 1 - busiest;
}

double half_width(const std::array<double, kBatches>& means) {
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / kBatches;
    double squares = 0;
    for (double m : means) squares += (m - mean) * (m - mean);
    return kStudent5_95 * std::sqrt(squares / (kBatches - 1)) / std::sqrt(kBatches);
}

WindowIdle from_counters(const Readings& readings) {
    WindowIdle idle{.value = share_between(*readings.front(), *readings.back())};
    const std::size_t steps = readings.size() - 1;
    if (steps < kBatches) return idle;
    std::array<double, kBatches> means{};
    for (std::size_t b = 0; b < kBatches; ++b)
        means[b] = share_between(*readings[b * steps / kBatches], *readings[(b + 1) * steps / kBatches]);
    idle.uncertainty = half_width(means);
    return idle;
}

WindowIdle from_short_averages(const Readings& readings) {
    const auto mean_of = [&](std::size_t from, std::size_t to) {
        double sum = 0;
        for (std::size_t i = from; i < to; ++i) sum += *readings[i]->idle_gauge;
        return sum / static_cast<double>(to - from);
    };
    WindowIdle idle{.value = mean_of(0, readings.size())};
    if (readings.size() < kBatches) return idle;
    std::array<double, kBatches> means{};
    for (std::size_t b = 0; b < kBatches; ++b)
        means[b] = mean_of(b * readings.size() / kBatches, (b + 1) * readings.size() / kBatches);
    idle.uncertainty = half_width(means);
    return idle;
}

/// An exponential average r with time constant τ that sees a constant x for Δ ends at x + (r₁ − x)·e^(−Δ/τ):
/// solved for x, that says where it is going, and with it how far it still is from there.
tl::expected<WindowIdle, std::string> from_long_average(const Readings& readings) {
    const auto& first = *readings.front();
    const auto& last = *readings.back();
    const double seconds = last.at_s - first.at_s;
    const double needed = least_window_s(first);
    // The first and the last scrape lie a little inside the window.
    if (seconds < 0.9 * needed) {
        return tl::unexpected("there is only its average over " + number(first.idle_gauge_s) +
                              " s, which needs a window of at least " + number(needed) + " s and has " +
                              number(seconds) + " s: lengthen trial.measure_s, or export the counter");
    }
    const double kept = std::exp(-seconds / first.idle_gauge_s);
    const double target = (*last.idle_gauge - *first.idle_gauge * kept) / (1 - kept);
    const double away = std::abs(*last.idle_gauge - target);
    if (away > kSettledWithin) {
        return tl::unexpected("its average over " + number(first.idle_gauge_s) +
                              " s has not settled: it went from " + number(*first.idle_gauge) + " to " +
                              number(*last.idle_gauge) +
                              " in the window; lengthen trial.warm_up_s, or export the counter");
    }
    return WindowIdle{.value = std::max(0.0, target), .uncertainty = away + kGaugeUncertainty};
}

}  // namespace

double least_window_s(const BrokerSample& sample) {
    const bool counted = sample.idle_ns || !sample.busy_s.empty();
    return counted || sample.idle_gauge_s < kShortAverage_s ? 0 : kTimeConstants * sample.idle_gauge_s;
}

bool idle_went_back(const BrokerSample& before, const BrokerSample& now) {
    if (before.idle_ns && now.idle_ns && *now.idle_ns < *before.idle_ns) return true;
    for (std::size_t shard = 0; shard < std::min(before.busy_s.size(), now.busy_s.size()); ++shard) {
        if (now.busy_s[shard] < before.busy_s[shard]) return true;
    }
    return false;
}

tl::expected<WindowIdle, std::string> window_idle(const BrokerWindow& window) {
    const auto readings = readings_of(window);
    if (readings.size() < 2 || readings.back()->at_s <= readings.front()->at_s)
        return tl::unexpected(std::string("fewer than two scrapes show it"));
    for (std::size_t i = 1; i < readings.size(); ++i) {
        if (idle_went_back(*readings[i - 1], *readings[i]))
            return tl::unexpected(std::string("its counter went back"));
    }
    const auto& first = *readings.front();
    if (first.idle_ns || !first.busy_s.empty()) return from_counters(readings);
    if (first.idle_gauge_s < kShortAverage_s) return from_short_averages(readings);
    return from_long_average(readings);
}

std::optional<double> idle_over(const BrokerWindow& window) {
    const auto idle = window_idle(window);
    return idle ? std::optional(idle->value) : std::nullopt;
}

std::optional<double> isr_churn_over(const std::vector<BrokerWindow>& brokers, double from_s, double to_s,
                                     double sub_window_s) {
    const int count = std::max(1, static_cast<int>(std::floor((to_s - from_s) / sub_window_s + 1e-9)));
    std::vector<bool> churned(static_cast<std::size_t>(count), false);
    bool any_signal = false;
    auto mark = [&](double at_s) {
        const int index = static_cast<int>((at_s - from_s) / sub_window_s);
        churned[static_cast<std::size_t>(std::clamp(index, 0, count - 1))] = true;
    };
    const auto rose = [](const std::optional<double>& before, const std::optional<double>& now) {
        return before && now && *now > *before;
    };
    for (const auto& broker : brokers) {
        const BrokerSample* previous = nullptr;
        for (const auto& sample : broker.samples) {
            // A rate decays for ever after the last event, so its level says nothing; an event makes it rise.
            const bool rates = sample.isr_shrinks_rate || sample.isr_expands_rate;
            const bool readable =
                sample.isr_shrinks || sample.isr_expands || rates || sample.under_replicated;
            any_signal = any_signal || readable;
            if (sample.under_replicated.value_or(0) > 0) mark(sample.at_s);
            if (previous) {
                const bool moved = sample.isr_shrinks.value_or(0) > previous->isr_shrinks.value_or(0) ||
                                   sample.isr_expands.value_or(0) > previous->isr_expands.value_or(0) ||
                                   rose(previous->isr_shrinks_rate, sample.isr_shrinks_rate) ||
                                   rose(previous->isr_expands_rate, sample.isr_expands_rate);
                if (moved) mark(sample.at_s);
            }
            if (readable) previous = &sample;
        }
    }
    if (!any_signal) return std::nullopt;
    const auto hits = std::count(churned.begin(), churned.end(), true);
    return static_cast<double>(hits) / count;
}

}  // namespace brink

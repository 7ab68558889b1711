#include <algorithm>
#include <cmath>
#include <vector>

#include "search/verdict.hpp"

namespace brink {
namespace {

constexpr double kNsPerSecond = 1e9;

}  // namespace

std::optional<double> idle_over(const BrokerWindow& window) {
    const BrokerSample* first = nullptr;
    const BrokerSample* last = nullptr;
    for (const auto& sample : window.samples) {
        if (!sample.idle_ns) continue;
        if (last && *sample.idle_ns < *last->idle_ns) return std::nullopt;
        if (!first) first = &sample;
        last = &sample;
    }
    if (!first || last->at_s <= first->at_s) return std::nullopt;
    return (*last->idle_ns - *first->idle_ns) / kNsPerSecond / (last->at_s - first->at_s);
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
    for (const auto& broker : brokers) {
        const BrokerSample* previous = nullptr;
        for (const auto& sample : broker.samples) {
            const bool readable = sample.isr_shrinks || sample.isr_expands || sample.under_replicated;
            any_signal = any_signal || readable;
            if (sample.under_replicated.value_or(0) > 0) mark(sample.at_s);
            if (previous) {
                const bool moved = sample.isr_shrinks.value_or(0) > previous->isr_shrinks.value_or(0) ||
                                   sample.isr_expands.value_or(0) > previous->isr_expands.value_or(0);
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

#include "search/steadiness.hpp"

#include <algorithm>
#include <cmath>

#include "search/statistics.hpp"
#include "search/wording.hpp"

namespace brink {
namespace {

using namespace wording;

constexpr std::size_t kBlocks = 12;
constexpr std::size_t kFewestBlocks = 6;
/// A rise that is certain may still be of no account: a wait that grows by less than this (in ms) …
constexpr double kWaitRise_ms = 100;
/// … or a lag by less than what a partition takes in during so many seconds (followers fetch twice a second).
constexpr double kLagRise_s = 2;

std::vector<TimedValue> in_blocks(const std::vector<TimedValue>& values) {
    const std::size_t blocks = std::min(kBlocks, values.size());
    std::vector<TimedValue> means;
    for (std::size_t b = 0; b < blocks; ++b) {
        const std::size_t from = b * values.size() / blocks;
        const std::size_t to = (b + 1) * values.size() / blocks;
        TimedValue mean;
        for (std::size_t i = from; i < to; ++i) {
            mean.at_s += values[i].at_s / static_cast<double>(to - from);
            mean.value += values[i].value / static_cast<double>(to - from);
        }
        means.push_back(mean);
    }
    return means;
}

/// Idle of each step between two scrapes; nothing where it is not counted.
std::vector<TimedValue> idle_steps(const BrokerWindow& broker) {
    std::vector<TimedValue> steps;
    for (std::size_t i = 1; i < broker.samples.size(); ++i) {
        const auto& before = broker.samples[i - 1];
        const auto& now = broker.samples[i];
        const double seconds = now.at_s - before.at_s;
        if (seconds <= 0) continue;
        if (const auto idle = idle_over({broker.broker_id, {before, now}}); idle && least_window_s(now) <= 0)
            steps.push_back({now.at_s - seconds / 2, *idle});
    }
    return steps;
}

std::string broker_idle_falls(const BrokerWindow& broker, const BrokerFigures& figures,
                              const JudgeRules& rules) {
    const auto trend = trend_of(idle_steps(broker));
    if (!trend || !trend->certain || trend->slope >= 0) return {};
    // In a combined node the steps count both pools; how they move is the same.
    const double end = figures.idle + trend->rise / 2;
    if (end >= rules.io_idle_below || figures.idle < rules.io_idle_below) return {};
    return "the idle of " + broker_name(broker.broker_id) + " fell through the window, to " + percent(end) +
           " at its end (mean " + percent(figures.idle) + ")";
}

std::string follower_lags(const BrokerWindow& broker, double partition_msgs_per_s, const JudgeRules& rules) {
    std::vector<TimedValue> lag;
    for (const auto& s : broker.samples) {
        if (s.max_lag) lag.push_back({s.at_s, *s.max_lag});
    }
    const auto trend = trend_of(lag);
    if (!trend || !trend->certain) return {};
    const bool keeps_up = trend->slope <= (1 - rules.delivered_below) * partition_msgs_per_s;
    if (keeps_up || trend->rise <= kLagRise_s * partition_msgs_per_s) return {};
    return "a partition that " + broker_name(broker.broker_id) + " follows fell behind by " +
           number(trend->slope, "%.0f") + " messages/s all through the window";
}

std::string waits_grow(const TrialWindow& window, const JudgeRules& rules) {
    const auto trend = trend_of(window.waits_ms);
    if (!trend || !trend->certain || trend->rise <= kWaitRise_ms) return {};
    // A queue that makes messages wait one second longer each 100 s lacks one hundredth of what goes in.
    const double not_absorbed = trend->slope / 1e3;
    if (not_absorbed <= 1 - rules.delivered_below) return {};
    return "messages waited " + number(trend->rise, "%.0f") +
           " ms longer at the end of the window than at its " + "beginning: " + percent(not_absorbed) +
           " of the load was not absorbed";
}

}  // namespace

std::optional<Trend> trend_of(const std::vector<TimedValue>& values) {
    const auto blocks = in_blocks(values);
    if (blocks.size() < kFewestBlocks) return std::nullopt;
    std::vector<double> slopes;
    double sign_sum = 0;
    double ties = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        for (std::size_t j = i + 1; j < blocks.size(); ++j) {
            const double by = blocks[j].value - blocks[i].value;
            const double seconds = blocks[j].at_s - blocks[i].at_s;
            if (seconds <= 0) return std::nullopt;
            slopes.push_back(by / seconds);
            sign_sum += by > 0 ? 1 : by < 0 ? -1 : 0;
            if (by == 0) ++ties;
        }
    }
    const auto n = static_cast<double>(blocks.size());
    Trend trend{.slope = median_of(slopes)};
    trend.rise = trend.slope * (values.back().at_s - values.front().at_s);
    const double sd = std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
    // Ties make the true deviation smaller than this, so that the test is only the more careful for them.
    trend.certain = ties < static_cast<double>(slopes.size()) / 2 && std::abs(sign_sum) - 1 > kNormal99 * sd;
    return trend;
}

Unsteady unsteady_in(const TrialWindow& window, const Verdict& verdict, const JudgeRules& rules) {
    Unsteady found;
    found.queue = waits_grow(window, rules);
    double partition_msgs_per_s = 0;
    for (const auto& broker : verdict.brokers)
        partition_msgs_per_s += broker.messages_in_per_s / std::max(1, window.partitions);
    for (std::size_t i = 0; i < window.brokers.size() && i < verdict.brokers.size(); ++i) {
        for (auto& sentence : {broker_idle_falls(window.brokers[i], verdict.brokers[i], rules),
                               follower_lags(window.brokers[i], partition_msgs_per_s, rules)}) {
            if (!sentence.empty()) found.rest.push_back(sentence);
        }
    }
    return found;
}

}  // namespace brink

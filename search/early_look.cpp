#include "search/early_look.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "search/statistics.hpp"
#include "search/steadiness.hpp"

namespace brink {
namespace {

constexpr std::array kLooks{12, 18, 24, 30, 36};
/// From the 95 % interval that six batches give to that at 99 %.
constexpr double kWider = kStudent5_99 / kStudent5_95;

struct Interval {
    double from = 0;
    double to = 0;
};

Interval idle_interval(const RuleFigure& idle) {
    return {idle.value - kWider * idle.uncertainty, idle.value + kWider * idle.uncertainty};
}

/// Wilson's interval of a share: unlike the normal one it does not vanish at 0 of 12.
Interval share_interval(double share, double of) {
    const double z2 = kNormal99 * kNormal99;
    const double middle = (share + z2 / (2 * of)) / (1 + z2 / of);
    const double half = kNormal99 / (1 + z2 / of) * std::sqrt(share * (1 - share) / of + z2 / (4 * of * of));
    return {middle - half, middle + half};
}

bool lacks_followers(const TrialWindow& window) {
    return std::any_of(window.brokers.begin(), window.brokers.end(), [](const BrokerWindow& broker) {
        return !broker.samples.empty() && broker.samples.back().under_replicated.value_or(0) > 0;
    });
}

}  // namespace

int fewest_samples(const TrialWindow& window) {
    if (window.brokers.empty()) return 0;
    const auto fewest =
        std::min_element(window.brokers.begin(), window.brokers.end(),
                         [](const auto& a, const auto& b) { return a.samples.size() < b.samples.size(); });
    return static_cast<int>(fewest->samples.size());
}

bool look_is_due(int samples_before, int samples_now) {
    return std::any_of(kLooks.begin(), kLooks.end(),
                       [&](int look) { return samples_before < look && samples_now >= look; });
}

Look look_at(const TrialWindow& so_far, const std::vector<RestReading>& rest, const JudgeRules& rules) {
    TrialWindow of_brokers = so_far;
    of_brokers.agents.clear();
    const auto verdict = judge(of_brokers, rest, rules);
    const auto* idle = verdict.figure("io_idle");
    if (idle == nullptr || verdict.kind == VerdictKind::invalid) return Look::go_on;
    const auto idle_between = idle_interval(*idle);
    const auto* churn = verdict.figure("isr_churn");
    const auto churn_between =
        churn == nullptr ? Interval{} : share_interval(churn->value, std::max(1.0, verdict.sub_windows));
    if (verdict.kind == VerdictKind::overloaded) {
        const auto* replication = verdict.figure("replication");
        const bool certain = idle_between.to < idle->threshold ||
                             (churn != nullptr && churn_between.from > churn->threshold) ||
                             (replication != nullptr && replication->fired);
        return certain ? Look::overloaded : Look::go_on;
    }
    const bool certain = verdict.kind == VerdictKind::sustained && idle_between.from >= idle->threshold &&
                         (churn == nullptr || churn_between.to < churn->threshold) &&
                         so_far.to_s - so_far.from_s >= kLongEnoughForChurn_s && !lacks_followers(so_far) &&
                         !unsteady_in(so_far, verdict, rules).any();
    return certain ? Look::sustained : Look::go_on;
}

double extension_s(double scrape_interval_s) {
    constexpr double kScrapes = 6;
    return std::ceil(kScrapes * scrape_interval_s);
}

bool undecided(const Verdict& verdict) {
    const auto* idle = verdict.figure("io_idle");
    if (idle == nullptr || verdict.kind == VerdictKind::invalid) return false;
    const bool otherwise = verdict.kind != VerdictKind::sustained && verdict.limited_by != "io_idle";
    const bool others_fired =
        std::any_of(verdict.figures.begin(), verdict.figures.end(),
                    [](const RuleFigure& figure) { return figure.fired && figure.rule != "io_idle"; });
    return !otherwise && !others_fired && std::abs(idle->value - idle->threshold) <= idle->uncertainty;
}

}  // namespace brink

#include "search/early_look.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace brink {
namespace {

constexpr std::array<int, 5> kLooks{12, 18, 24, 30, 36};
/// From the 95 % half-width of six batches to the 99 % one: t(.995, 5) ÷ t(.975, 5).
constexpr double kWiderIdle = 4.032 / 2.571;
/// The same for a share, by the normal approximation that its half-width uses.
constexpr double kWiderShare = 2.576 / 1.96;
constexpr double kShortestSustained_s = 60;
/// Idle may wander by this much between the halves of a window at one load.
constexpr double kFalling = 0.05;

const RuleFigure* figure_of(const Verdict& verdict, const char* rule) {
    const auto found = std::find_if(verdict.figures.begin(), verdict.figures.end(),
                                    [&](const RuleFigure& f) { return f.rule == rule; });
    return found == verdict.figures.end() ? nullptr : &*found;
}

bool falling(const BrokerWindow& broker) {
    const auto half = static_cast<std::ptrdiff_t>(broker.samples.size() / 2);
    BrokerWindow first{.broker_id = broker.broker_id, .samples = {}};
    BrokerWindow second = first;
    first.samples.assign(broker.samples.begin(), broker.samples.begin() + half + 1);
    second.samples.assign(broker.samples.begin() + half, broker.samples.end());
    const auto before = idle_over(first);
    const auto after = idle_over(second);
    return !before || !after || *after < *before - kFalling;
}

}  // namespace

bool is_time_to_look(int scrapes) { return std::find(kLooks.begin(), kLooks.end(), scrapes) != kLooks.end(); }

Look look_at(const TrialWindow& so_far, const std::vector<RestReading>& rest, const JudgeRules& rules) {
    auto brokers_alone = so_far;
    brokers_alone.agents.clear();  // their books on these seconds are not closed yet
    const auto verdict = judge(brokers_alone, rest, rules);
    if (verdict.kind == VerdictKind::invalid) return Look::go_on;
    const auto* idle = figure_of(verdict, "io_idle");
    const auto* churn = figure_of(verdict, "isr_churn");
    if (!idle) return Look::go_on;
    if (idle->value + kWiderIdle * idle->uncertainty < idle->threshold) return Look::overloaded;
    if (churn && churn->value - kWiderShare * churn->uncertainty > churn->threshold) return Look::overloaded;
    const bool long_enough = so_far.to_s - so_far.from_s >= kShortestSustained_s;
    const bool idle_enough = idle->value - kWiderIdle * idle->uncertainty > idle->threshold;
    const bool quiet = churn && churn->value == 0;
    const bool steady = std::none_of(so_far.brokers.begin(), so_far.brokers.end(), falling);
    return long_enough && idle_enough && quiet && steady ? Look::sustained : Look::go_on;
}

bool is_undecided(const Verdict& verdict) {
    const bool judged = verdict.kind == VerdictKind::sustained ||
                        (verdict.kind == VerdictKind::overloaded && verdict.limited_by == "io_idle");
    const auto* idle = figure_of(verdict, "io_idle");
    return judged && idle && std::abs(idle->value - idle->threshold) <= idle->uncertainty;
}

}  // namespace brink

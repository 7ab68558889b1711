#include "search/outcome_rules.hpp"

#include <algorithm>

#include "search/wording.hpp"

namespace brink {
namespace {

using namespace wording;

struct Throttling {
    double share = 0;  ///< of the producers' time
    double answers = 0;
    double longest_ms = 0;
};

Throttling throttling_of(const std::vector<AgentWindow>& agents) {
    Throttling sum;
    double throttled_s = 0;
    double producer_s = 0;
    for (const auto& agent : agents) {
        throttled_s += agent.throttled_s;
        producer_s += agent.producer_s;
        sum.answers += agent.throttled_answers;
        sum.longest_ms = std::max(sum.longest_ms, agent.longest_throttle_ms);
    }
    if (producer_s > 0) sum.share = std::min(1.0, throttled_s / producer_s);
    return sum;
}

struct Delivery {
    double scheduled = 0;
    double acked = 0;
    double failed = 0;
    std::vector<std::string> saturation{};
    std::string first_error{};
    [[nodiscard]] double share() const { return scheduled > 0 ? acked / scheduled : 1.0; }
};

Delivery delivery_of(const std::vector<AgentWindow>& agents) {
    Delivery sum;
    for (const auto& a : agents) {
        sum.scheduled += a.scheduled;
        sum.acked += a.acked;
        sum.failed += a.failed;
        for (const auto& s : a.saturation) sum.saturation.push_back(a.agent + ": " + s);
        if (sum.first_error.empty()) sum.first_error = a.first_error;
    }
    return sum;
}

std::string throttling_text(const Throttling& throttling) {
    return "quotas of the brokers held our producers back for " + percent(throttling.share) +
           " of their time (" + number(throttling.answers, "%.0f") +
           " answers with a throttle time, the longest " + number(throttling.longest_ms, "%.0f") + " ms)";
}

}  // namespace

void judge_quota(Verdict& verdict, const TrialWindow& window, const JudgeRules& rules) {
    const auto throttling = throttling_of(window.agents);
    const bool above = throttling.share > rules.quota_throttled_above;
    verdict.figures.push_back({.rule = "quota",
                               .value = throttling.share,
                               .threshold = rules.quota_throttled_above,
                               .fired = rules.quota && above});
    if (!rules.quota || !above) return;
    if (verdict.limited_by.empty()) verdict.limited_by = "quota";
    verdict.kind = VerdictKind::overloaded;
    verdict.reasons.push_back(throttling_text(throttling) + ", above " +
                              percent(rules.quota_throttled_above));
}

void judge_delivery(Verdict& verdict, const TrialWindow& window, const JudgeRules& rules) {
    const auto delivery = delivery_of(window.agents);
    RuleFigure figure{.rule = "delivery", .value = delivery.share(), .threshold = rules.delivered_below};
    figure.fired = figure.value < rules.delivered_below;
    verdict.figures.push_back(figure);
    // The brokers' own signals come first: an overloaded broker also acknowledges less than it is offered.
    if (!figure.fired || verdict.kind == VerdictKind::overloaded) return;
    const auto shortfall =
        "acknowledged only " + percent(delivery.share()) + " of the messages that were due";
    const auto throttling = throttling_of(window.agents);
    // What a quota holds back fills the agents' queues: no evidence against them.
    const bool held_back = throttling.share > rules.quota_throttled_above;
    if (!delivery.saturation.empty() && !held_back) {
        verdict.kind = VerdictKind::generator_limited;
        verdict.limited_by = "generator";
        verdict.reasons.push_back(shortfall + ", with the agents short of something");
        verdict.reasons.insert(verdict.reasons.end(), delivery.saturation.begin(), delivery.saturation.end());
        return;
    }
    verdict.kind = VerdictKind::invalid;
    verdict.reasons.push_back(
        delivery.failed > 0 ? shortfall + "; " + number(delivery.failed, "%.0f") +
                                  " deliveries failed, the first with: " + delivery.first_error
                            : "unexplained: " + shortfall + ", though neither brokers nor agents show why");
    if (throttling.answers > 0) verdict.reasons.push_back("suspect: " + throttling_text(throttling));
}

}  // namespace brink

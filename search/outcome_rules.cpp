#include "search/outcome_rules.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "search/steadiness.hpp"
#include "search/wording.hpp"

namespace brink {
namespace {

using namespace wording;

/// Network threads idle less than this are named when something has to be explained, and so are those that
/// are idle for so much less of the time than the other brokers'.
constexpr double kBusyNetwork = 0.50;
constexpr double kLessNetworkIdle = 0.20;
/// A broker that answers later than this, and so many times later than the others, stands out; so does one
/// that takes in less than this share of what they do.
constexpr double kSlowAnswer_ms = 50;
constexpr double kStandsOut = 3;
constexpr double kLessTraffic = 0.70;

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

/// The broker whose network threads were idle least; null when no exporter says it.
const BrokerFigures* least_network_idle(const std::vector<BrokerFigures>& brokers) {
    const BrokerFigures* least = nullptr;
    for (const auto& broker : brokers) {
        if (broker.network_idle && (least == nullptr || *broker.network_idle < *least->network_idle))
            least = &broker;
    }
    return least;
}

/// The broker that had our requests in hand for the greatest part of the producers' time; null when no
/// exporter says it.
const BrokerFigures* most_broker_time(const std::vector<BrokerFigures>& brokers) {
    const BrokerFigures* most = nullptr;
    for (const auto& broker : brokers) {
        if (broker.broker_time && (most == nullptr || *broker.broker_time > *most->broker_time))
            most = &broker;
    }
    return most;
}

/// What shows that a shortfall is a broker's doing; empty when nothing does.
std::string brokers_cause(const Verdict& verdict, const JudgeRules& rules) {
    if (const auto* starved = least_network_idle(verdict.brokers);
        starved != nullptr && *starved->network_idle < rules.network_idle_below) {
        return "the network threads of " + broker_name(starved->broker_id) + " were idle " +
               percent(*starved->network_idle) + " of the time, below " + percent(rules.network_idle_below);
    }
    if (const auto* slow = most_broker_time(verdict.brokers);
        slow != nullptr && *slow->broker_time > rules.broker_time_above) {
        return broker_name(slow->broker_id) + " had their requests in hand for " +
               percent(*slow->broker_time) + " of the producers' time, above " +
               percent(rules.broker_time_above) + " (" + number(*slow->produce_ms, "%.0f") + " ms a request)";
    }
    return {};
}

/// The broker with the highest figure, and the median of the others.
struct Outlier {
    int broker_id = 0;
    double value = 0;
    double others = 0;
};
std::optional<Outlier> highest(std::vector<std::pair<double, int>> figures) {
    if (figures.size() < 2) return std::nullopt;
    std::sort(figures.begin(), figures.end());
    const auto [value, broker_id] = figures.back();
    return Outlier{broker_id, value, figures[(figures.size() - 1) / 2].first};
}

/// A broker that stands out from the others, by how slowly it answers and by how little it takes in.
std::vector<std::string> one_slow_broker(const std::vector<BrokerFigures>& brokers) {
    std::vector<std::string> suspects;
    std::vector<std::pair<double, int>> answers;
    std::vector<std::pair<double, int>> intakes;  // negated: the lowest stands out
    for (const auto& broker : brokers) {
        if (broker.answer_ms) answers.emplace_back(*broker.answer_ms, broker.broker_id);
        intakes.emplace_back(-broker.bytes_in_per_s, broker.broker_id);
    }
    if (const auto slow = highest(answers);
        slow && slow->value > kSlowAnswer_ms && slow->value > kStandsOut * slow->others) {
        suspects.push_back(broker_name(slow->broker_id) + " took " + number(slow->value, "%.0f") +
                           " ms to answer, the others " + number(slow->others, "%.0f") + " ms");
    }
    if (const auto least = highest(intakes); least && least->value > kLessTraffic * least->others) {
        suspects.push_back(broker_name(least->broker_id) + " took in only " + number(-least->value / 1e6) +
                           " MB/s, the others " + number(-least->others / 1e6) + " MB/s");
    }
    return suspects;
}

/// Brokers whose network threads have little time, for themselves or beside the others'. With acks=all the
/// others wait for such a broker, and spend as much time on a request as it does.
std::vector<std::string> busy_network(const std::vector<BrokerFigures>& brokers) {
    std::vector<std::pair<double, int>> busy;
    for (const auto& broker : brokers) {
        if (broker.network_idle) busy.emplace_back(1 - *broker.network_idle, broker.broker_id);
    }
    const auto busiest = highest(busy);
    std::vector<std::string> suspects;
    for (const auto& [share, broker_id] : busy) {
        const bool stands_out =
            busiest && busiest->broker_id == broker_id && busiest->value > busiest->others + kLessNetworkIdle;
        if (1 - share < kBusyNetwork || stands_out)
            suspects.push_back("the network threads of " + broker_name(broker_id) + " were idle " +
                               percent(1 - share) + " of the time");
    }
    return suspects;
}

/// What a shortfall may come from besides `cause`, as far as any signal tells; where none does and there is
/// no cause, what has to be looked at.
std::vector<std::string> suspects_of(const Verdict& verdict, const Throttling& throttling,
                                     const std::string& cause) {
    std::vector<std::string> suspects;
    for (auto& suspect : busy_network(verdict.brokers)) {
        if (!cause.starts_with(suspect)) suspects.push_back(std::move(suspect));
    }
    if (throttling.answers > 0) suspects.push_back(throttling_text(throttling));
    for (auto& suspect : one_slow_broker(verdict.brokers)) suspects.push_back(std::move(suspect));
    if (suspects.empty() && cause.empty())
        suspects.emplace_back(
            "none that a signal of brink shows; look at network threads, the brokers' network cards, quotas "
            "and "
            "whether one broker is slower than the others");
    return suspects;
}

/// Whose fault it is that not all was delivered; `what` says that it was not.
void explain(Verdict& verdict, const TrialWindow& window, const Delivery& delivery, const JudgeRules& rules,
             const std::string& what) {
    const auto throttling = throttling_of(window.agents);
    // What a quota holds back fills the agents' queues: no evidence against them.
    const bool held_back = throttling.share > rules.quota_throttled_above;
    if (!delivery.saturation.empty() && !held_back) {
        verdict.kind = VerdictKind::generator_limited;
        verdict.limited_by = "generator";
        verdict.reasons.push_back(what + ", with the agents short of something");
        verdict.reasons.insert(verdict.reasons.end(), delivery.saturation.begin(), delivery.saturation.end());
        return;
    }
    const bool may_answer = rules.delivery && delivery.failed == 0 && !held_back;
    const auto cause = may_answer ? brokers_cause(verdict, rules) : std::string{};
    if (!cause.empty()) {
        verdict.kind = VerdictKind::overloaded;
        verdict.limited_by = "delivery";
        verdict.reasons.push_back(what + ", though the agents had room: " + cause);
    } else {
        verdict.kind = VerdictKind::invalid;
        verdict.reasons.push_back(delivery.failed > 0
                                      ? what + "; " + number(delivery.failed, "%.0f") +
                                            " deliveries failed, the first with: " + delivery.first_error
                                      : "unexplained: " + what + ", though the agents had room");
    }
    for (auto& suspect : suspects_of(verdict, throttling, cause))
        verdict.reasons.push_back("suspect: " + suspect);
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

void judge_replication(Verdict& verdict, const TrialWindow& window, const JudgeRules& rules) {
    RuleFigure figure{.rule = "replication", .threshold = rules.replica_lag_s};
    bool read = false;
    for (const auto& broker : window.brokers) {
        std::optional<double> since_s;
        for (const auto& sample : broker.samples) {
            if (!sample.under_replicated) continue;
            read = true;
            if (*sample.under_replicated <= 0) {
                since_s.reset();
                continue;
            }
            if (!since_s) since_s = sample.at_s;
            if (sample.at_s - *since_s > figure.value) {
                figure.value = sample.at_s - *since_s;
                figure.broker_id = broker.broker_id;
            }
        }
    }
    if (!read) return;
    figure.fired = rules.replication && figure.value > rules.replica_lag_s;
    verdict.figures.push_back(figure);
    if (!figure.fired) return;
    if (verdict.limited_by.empty()) verdict.limited_by = "replication";
    verdict.kind = VerdictKind::overloaded;
    verdict.reasons.push_back("partitions of " + broker_name(figure.broker_id) + " lacked followers for " +
                              number(figure.value, "%.0f") + " s without a break, longer than " +
                              number(rules.replica_lag_s, "%.0f") + " s");
}

void judge_delivery(Verdict& verdict, const TrialWindow& window, const JudgeRules& rules) {
    const auto delivery = delivery_of(window.agents);
    RuleFigure figure{.rule = "delivery", .value = delivery.share(), .threshold = rules.delivered_below};
    figure.fired = figure.value < rules.delivered_below;
    if (const auto* starved = least_network_idle(verdict.brokers))
        verdict.figures.push_back({.rule = "network_idle",
                                   .value = *starved->network_idle,
                                   .threshold = rules.network_idle_below,
                                   .broker_id = starved->broker_id});
    if (const auto* slow = most_broker_time(verdict.brokers))
        verdict.figures.push_back({.rule = "broker_time",
                                   .value = *slow->broker_time,
                                   .threshold = rules.broker_time_above,
                                   .broker_id = slow->broker_id});
    verdict.figures.push_back(figure);
    // The brokers' own signals come first: an overloaded broker also acknowledges less than it is offered.
    if (!figure.fired || verdict.kind == VerdictKind::overloaded) return;
    explain(verdict, window, delivery, rules,
            "acknowledged only " + percent(delivery.share()) + " of the messages that were due");
}

void judge_steadiness(Verdict& verdict, const TrialWindow& window, const JudgeRules& rules) {
    if (verdict.kind != VerdictKind::sustained) return;
    const auto unsteady = unsteady_in(window, verdict, rules);
    if (!unsteady.any()) return;
    verdict.flags.emplace_back(kNotSteady);
    if (!unsteady.queue.empty()) explain(verdict, window, delivery_of(window.agents), rules, unsteady.queue);
    if (unsteady.rest.empty() || verdict.kind == VerdictKind::overloaded) return;
    verdict.kind = VerdictKind::invalid;
    verdict.limited_by.clear();
    for (const auto& sentence : unsteady.rest) verdict.reasons.push_back("not steady: " + sentence);
}

}  // namespace brink

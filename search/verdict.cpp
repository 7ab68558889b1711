#include "search/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "search/window_faults.hpp"

namespace brink {
namespace {

/// Student's t at 97.5 % with 5 degrees of freedom: the half-width of a mean over 6 batches.
constexpr double kT5 = 2.571;
constexpr int kBatches = 6;
/// A combined node before Kafka 4.2 reads about 2 at rest: anything above this is taken for two pools on one
/// meter.
constexpr double kTwoPools = 1.5;
/// Churn shows up to 45 s late with Kafka's default lag limit; a shorter window cannot promise to have seen
/// it.
constexpr double kLongEnoughForChurn_s = 60;

std::string number(double value, const char* format = "%.3g") {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}
std::string percent(double share) { return number(share * 100, "%.1f") + " %"; }
std::string broker_name(int id) { return "broker " + std::to_string(id); }

struct Idle {
    double value = 0;
    double uncertainty = 0;
};

/// Half-width of the window's mean idle from six batches of consecutive scrapes.
double idle_uncertainty(const BrokerWindow& window) {
    std::vector<const BrokerSample*> readings;
    for (const auto& s : window.samples) {
        if (s.idle_ns) readings.push_back(&s);
    }
    const std::size_t steps = readings.size() < 2 ? 0 : readings.size() - 1;
    if (steps < kBatches) return 1.0;  // too few to say anything: everything is possible
    std::array<double, kBatches> means{};
    for (std::size_t b = 0; b < kBatches; ++b) {
        const auto* from = readings[b * steps / kBatches];
        const auto* to = readings[(b + 1) * steps / kBatches];
        means[b] = (*to->idle_ns - *from->idle_ns) / 1e9 / (to->at_s - from->at_s);
    }
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / kBatches;
    double squares = 0;
    for (double m : means) squares += (m - mean) * (m - mean);
    return kT5 * std::sqrt(squares / (kBatches - 1)) / std::sqrt(kBatches);
}

double rest_idle(const std::vector<RestReading>& rest, int broker_id) {
    for (const auto& r : rest) {
        if (r.broker_id == broker_id) return r.idle;
    }
    return 1.0;
}

double rate_of(const BrokerWindow& window, std::optional<double> BrokerSample::* counter) {
    const BrokerSample* first = nullptr;
    const BrokerSample* last = nullptr;
    for (const auto& s : window.samples) {
        if (!(s.*counter)) continue;
        if (!first) first = &s;
        last = &s;
    }
    if (!first || last->at_s <= first->at_s) return 0;
    return (*(last->*counter) - *(first->*counter)) / (last->at_s - first->at_s);
}

/// What makes the readings of one broker unusable; empty when nothing does.
std::vector<std::string> faults_of(const BrokerWindow& broker, const TrialWindow& window,
                                   const JudgeRules& rules) {
    std::vector<std::string> faults;
    if (auto fault = broker_fault(broker, window)) return {*fault};
    const int got = static_cast<int>(broker.samples.size());
    const double missing =
        got + broker.missed == 0 ? 1.0 : static_cast<double>(broker.missed) / (got + broker.missed);
    if (missing > rules.missing_scrapes_above) {
        faults.push_back(percent(missing) + " of the scrapes of " + broker_name(broker.broker_id) +
                         " are missing (limit " + percent(rules.missing_scrapes_above) + ")" +
                         (broker.last_error.empty() ? "" : ", the last because: " + broker.last_error));
        return faults;
    }
    const auto readable = std::count_if(broker.samples.begin(), broker.samples.end(),
                                        [](const BrokerSample& s) { return s.idle_ns.has_value(); });
    if (readable < rules.min_scrapes) {
        faults.push_back("only " + std::to_string(readable) + " scrapes of " + broker_name(broker.broker_id) +
                         " have an idle counter, at least " + std::to_string(rules.min_scrapes) +
                         " are needed: lengthen trial.measure_s or shorten trial.scrape_interval_s");
    }
    return faults;
}

/// The broker pool's idle share: as counted, less the controller's pool where both mark one meter.
std::optional<Idle> pool_idle(const BrokerWindow& broker, double at_rest, const JudgeRules& rules,
                              std::vector<std::string>& faults) {
    const auto counted = idle_over(broker);
    if (!counted) {
        faults.push_back("the idle of " + broker_name(broker.broker_id) + " cannot be read");
        return std::nullopt;
    }
    if (at_rest > rules.implausible_idle_above && at_rest <= kTwoPools) {
        faults.push_back("the idle meter of " + broker_name(broker.broker_id) + " read " + number(at_rest) +
                         " at rest, which is neither one pool (1) nor two (2)");
        return std::nullopt;
    }
    const double value = at_rest > kTwoPools ? *counted - (at_rest - 1) : *counted;
    if (value > rules.implausible_idle_above) {
        faults.push_back("the idle of " + broker_name(broker.broker_id) + " reads " + number(value) +
                         ", above " + number(rules.implausible_idle_above) +
                         ": this is not the meter it seems to be");
        return std::nullopt;
    }
    return Idle{std::clamp(value, 0.0, 1.0), idle_uncertainty(broker)};
}

RuleFigure io_idle_figure(const std::vector<std::pair<int, Idle>>& idles, const JudgeRules& rules) {
    RuleFigure figure{.rule = "io_idle", .threshold = rules.io_idle_below};
    if (rules.mean_across_brokers) {
        double squares = 0;
        for (const auto& [id, idle] : idles) {
            figure.value += idle.value / static_cast<double>(idles.size());
            squares += idle.uncertainty * idle.uncertainty;
        }
        figure.uncertainty = std::sqrt(squares) / static_cast<double>(idles.size());
    } else {
        const auto worst = std::min_element(idles.begin(), idles.end(), [](const auto& a, const auto& b) {
            return a.second.value < b.second.value;
        });
        figure.value = worst->second.value;
        figure.uncertainty = worst->second.uncertainty;
        figure.broker_id = worst->first;
    }
    figure.fired = figure.value < rules.io_idle_below;
    return figure;
}

RuleFigure isr_churn_figure(double churn, const TrialWindow& window, const JudgeRules& rules) {
    const double sub_windows = std::max(1.0, (window.to_s - window.from_s) / rules.sub_window_s);
    return {.rule = "isr_churn",
            .value = churn,
            .threshold = rules.isr_churn_above,
            .uncertainty = 1.96 * std::sqrt(churn * (1 - churn) / sub_windows),
            .fired = churn > rules.isr_churn_above};
}

struct Delivery {
    double scheduled = 0;
    double acked = 0;
    double failed = 0;
    std::vector<std::string> saturation;
    std::string first_error;
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

void judge_published(Verdict& verdict, const TrialWindow& window, const JudgeRules& rules,
                     const std::vector<std::pair<int, Idle>>& idles) {
    const auto idle = io_idle_figure(idles, rules);
    verdict.figures.push_back(idle);
    if (idle.fired) {
        const auto who =
            idle.broker_id < 0 ? std::string("the mean of all brokers") : broker_name(idle.broker_id);
        verdict.limited_by = "io_idle";
        verdict.reasons.push_back("the request-handler threads of " + who + " were idle " +
                                  percent(idle.value) + " of the time, below " + percent(idle.threshold));
    }
    verdict.isr_churn = isr_churn_over(window.brokers, window.from_s, window.to_s, rules.sub_window_s);
    if (!verdict.isr_churn) {
        verdict.flags.emplace_back("no_isr_signal");
    } else {
        const auto churn = isr_churn_figure(*verdict.isr_churn, window, rules);
        verdict.figures.push_back(churn);
        if (churn.fired) {
            if (verdict.limited_by.empty()) verdict.limited_by = "isr_churn";
            verdict.reasons.push_back("in-sync replicas changed, or were missing, in " +
                                      percent(churn.value) + " of the sub-windows, above " +
                                      percent(churn.threshold));
        }
    }
    verdict.published = verdict.limited_by.empty() ? VerdictKind::sustained : VerdictKind::overloaded;
    verdict.kind = verdict.published;
}

void judge_delivery(Verdict& verdict, const std::vector<AgentWindow>& agents, const JudgeRules& rules) {
    const auto delivery = delivery_of(agents);
    RuleFigure figure{.rule = "delivery", .value = delivery.share(), .threshold = rules.delivered_below};
    figure.fired = figure.value < rules.delivered_below;
    verdict.figures.push_back(figure);
    // The brokers' own metrics come first: an overloaded broker also acknowledges less than it is offered.
    if (!figure.fired || verdict.kind == VerdictKind::overloaded) return;
    const auto shortfall =
        "acknowledged only " + percent(delivery.share()) + " of the messages that were due";
    if (!delivery.saturation.empty()) {
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
}

}  // namespace

Verdict judge(const TrialWindow& window, const std::vector<RestReading>& rest, const JudgeRules& rules) {
    Verdict verdict;
    std::vector<std::string> faults = window.voided;
    for (const auto& agent : window.agents) {
        if (agent.lost && window.voided.empty())
            faults.push_back("agent " + agent.agent + " was lost during the trial");
    }
    if (auto fault = size_fault(window.agents)) {
        faults.push_back(*fault);
        verdict.flags.emplace_back(kMessageTooLarge);
    }
    std::vector<std::pair<int, Idle>> idles;
    for (const auto& broker : window.brokers) {
        BrokerFigures figures{.broker_id = broker.broker_id,
                              .scrapes = static_cast<int>(broker.samples.size()),
                              .missed = broker.missed};
        figures.bytes_in_per_s = rate_of(broker, &BrokerSample::bytes_in);
        figures.messages_in_per_s = rate_of(broker, &BrokerSample::messages_in);
        figures.isr_churn =
            isr_churn_over({broker}, window.from_s, window.to_s, rules.sub_window_s).value_or(0);
        auto broken = faults_of(broker, window, rules);
        if (broken.empty()) {
            if (const auto idle = pool_idle(broker, rest_idle(rest, broker.broker_id), rules, broken)) {
                figures.idle = idle->value;
                idles.emplace_back(broker.broker_id, *idle);
            }
        }
        // What was ended early lacks scrapes because of that, and says so already.
        if (window.voided.empty()) faults.insert(faults.end(), broken.begin(), broken.end());
        verdict.brokers.push_back(figures);
    }
    if (window.brokers.empty()) faults.emplace_back("no broker was observed");
    faults.insert(faults.end(), window.topic_faults.begin(), window.topic_faults.end());
    if (window.to_s - window.from_s < kLongEnoughForChurn_s) verdict.flags.emplace_back("short_window");
    if (!idles.empty()) {
        std::vector<double> sorted;
        sorted.reserve(idles.size());
        for (const auto& [id, idle] : idles) sorted.push_back(idle.value);
        std::sort(sorted.begin(), sorted.end());
        verdict.worst_idle = sorted.front();
        verdict.median_idle = sorted[sorted.size() / 2];
    }
    if (!faults.empty()) {
        verdict.reasons = std::move(faults);
        return verdict;
    }
    judge_published(verdict, window, rules, idles);
    if (auto late = judged_faults(verdict, window); !late.empty()) {
        verdict.kind = VerdictKind::invalid;
        verdict.limited_by.clear();
        verdict.reasons = std::move(late);
        return verdict;
    }
    if (auto slow = one_slow_broker(verdict)) {
        verdict.flags.emplace_back("one_slow_broker");
        verdict.reasons.push_back(*slow);
    }
    judge_delivery(verdict, window.agents, rules);
    if (verdict.kind == VerdictKind::sustained) {
        verdict.reasons.push_back("idle " + percent(*verdict.worst_idle) + " on the worst broker" +
                                  (verdict.isr_churn ? ", ISR churn " + percent(*verdict.isr_churn) : "") +
                                  ", and what was due was acknowledged");
    }
    return verdict;
}

}  // namespace brink

#include "search/verdict.hpp"

#include <algorithm>
#include <cmath>

#include "search/broker_figures.hpp"
#include "search/outcome_rules.hpp"
#include "search/statistics.hpp"
#include "search/window_faults.hpp"
#include "search/wording.hpp"

namespace brink {
namespace {

using namespace wording;

/// A combined node before Kafka 4.2 reads about 2 at rest: anything above this is taken for two pools on one
/// meter.
constexpr double kTwoPools = 1.5;

double rest_idle(const std::vector<RestReading>& rest, int broker_id) {
    for (const auto& r : rest) {
        if (r.broker_id == broker_id) return r.idle;
    }
    return 1.0;
}

/// What makes the readings of one broker unusable; empty when nothing does.
std::vector<std::string> faults_of(const BrokerWindow& broker, const TrialWindow& window,
                                   const JudgeRules& rules) {
    std::vector<std::string> faults;
    if (auto event = broker_event(broker)) return {*event};
    if (auto gap = scrape_gap(broker, window)) return {*gap};
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
                                        [](const BrokerSample& s) { return s.has_idle(); });
    if (readable < rules.min_scrapes) {
        faults.push_back("only " + std::to_string(readable) + " scrapes of " + broker_name(broker.broker_id) +
                         " show how idle it is, at least " + std::to_string(rules.min_scrapes) +
                         " are needed: lengthen trial.measure_s or shorten trial.scrape_interval_s");
    }
    return faults;
}

/// The broker pool's idle share: as counted, less the controller's pool where both mark one meter.
std::optional<WindowIdle> pool_idle(const BrokerWindow& broker, double at_rest, const JudgeRules& rules,
                                    std::vector<std::string>& faults) {
    const auto counted = window_idle(broker);
    if (!counted) {
        faults.push_back("the idle of " + broker_name(broker.broker_id) +
                         " cannot be read: " + counted.error());
        return std::nullopt;
    }
    if (at_rest > rules.implausible_idle_above && at_rest <= kTwoPools) {
        faults.push_back("the idle meter of " + broker_name(broker.broker_id) + " read " + number(at_rest) +
                         " at rest, which is neither one pool (1) nor two (2)");
        return std::nullopt;
    }
    const double value = at_rest > kTwoPools ? counted->value - (at_rest - 1) : counted->value;
    if (value > rules.implausible_idle_above) {
        faults.push_back("the idle of " + broker_name(broker.broker_id) + " reads " + number(value) +
                         ", above " + number(rules.implausible_idle_above) +
                         ": this is not the meter it seems to be");
        return std::nullopt;
    }
    return WindowIdle{std::clamp(value, 0.0, 1.0), counted->uncertainty};
}

RuleFigure io_idle_figure(const std::vector<std::pair<int, WindowIdle>>& idles, const JudgeRules& rules) {
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

/// A sub-window without a scrape in it would look quiet: none is shorter than the longest usual gap between
/// two.
double sub_window_of(const TrialWindow& window, const JudgeRules& rules) {
    std::vector<double> gaps;
    for (const auto& broker : window.brokers) {
        for (std::size_t i = 1; i < broker.samples.size(); ++i)
            gaps.push_back(broker.samples[i].at_s - broker.samples[i - 1].at_s);
    }
    std::sort(gaps.begin(), gaps.end());
    double longest = rules.sub_window_s;
    for (const double gap : gaps) {
        if (gap <= 2 * gaps[gaps.size() / 2])
            longest = std::max(longest, gap);  // beyond: a scrape is missing
    }
    return longest;
}

RuleFigure isr_churn_figure(double churn, double sub_windows, const JudgeRules& rules) {
    return {.rule = "isr_churn",
            .value = churn,
            .threshold = rules.isr_churn_above,
            .uncertainty = kNormal95 * std::sqrt(churn * (1 - churn) / sub_windows),
            .fired = churn > rules.isr_churn_above};
}

void judge_published(Verdict& verdict, const TrialWindow& window, const JudgeRules& rules,
                     const std::vector<std::pair<int, WindowIdle>>& idles) {
    const auto idle = io_idle_figure(idles, rules);
    verdict.figures.push_back(idle);
    if (idle.fired) {
        const auto who =
            idle.broker_id < 0 ? std::string("the mean of all brokers") : broker_name(idle.broker_id);
        verdict.limited_by = "io_idle";
        verdict.reasons.push_back("the request-handler threads of " + who + " were idle " +
                                  percent(idle.value) + " of the time, below " + percent(idle.threshold));
    }
    const double sub_window_s = sub_window_of(window, rules);
    verdict.isr_churn = isr_churn_over(window.brokers, window.from_s, window.to_s, sub_window_s);
    if (!verdict.isr_churn) {
        verdict.flags.emplace_back("no_isr_signal");
    } else {
        verdict.sub_windows = std::max(1.0, (window.to_s - window.from_s) / sub_window_s);
        const auto churn = isr_churn_figure(*verdict.isr_churn, verdict.sub_windows, rules);
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

}  // namespace

const RuleFigure* Verdict::figure(const std::string& rule) const {
    const auto found =
        std::find_if(figures.begin(), figures.end(), [&](const RuleFigure& f) { return f.rule == rule; });
    return found == figures.end() ? nullptr : &*found;
}

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
    // Brokers are scraped under one deadline, so that one that hangs makes the others lack scrapes as well.
    std::vector<std::string> of_bystanders;
    std::vector<std::pair<int, WindowIdle>> idles;
    for (const auto& broker : window.brokers) {
        auto figures = figures_of(broker, window, rules);
        auto broken = faults_of(broker, window, rules);
        if (broken.empty()) {
            if (const auto idle = pool_idle(broker, rest_idle(rest, broker.broker_id), rules, broken)) {
                figures.idle = idle->value;
                idles.emplace_back(broker.broker_id, *idle);
            }
        }
        // What was ended early lacks scrapes because of that, and says so already.
        auto& list = broker.missed > 0 || broker_event(broker) ? faults : of_bystanders;
        if (window.voided.empty()) list.insert(list.end(), broken.begin(), broken.end());
        verdict.brokers.push_back(figures);
    }
    faults.insert(faults.end(), of_bystanders.begin(), of_bystanders.end());
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
    if (!window.agents.empty()) judge_quota(verdict, window, rules);
    judge_replication(verdict, window, rules);
    if (!window.agents.empty()) judge_delivery(verdict, window, rules);
    judge_steadiness(verdict, window, rules);
    if (verdict.kind == VerdictKind::sustained) {
        verdict.reasons.push_back("idle " + percent(*verdict.worst_idle) + " on the worst broker" +
                                  (verdict.isr_churn ? ", ISR churn " + percent(*verdict.isr_churn) : "") +
                                  (window.agents.empty() ? "" : ", and what was due was acknowledged"));
    }
    return verdict;
}

}  // namespace brink

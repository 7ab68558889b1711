#include "search/broker_figures.hpp"

#include <algorithm>

namespace brink {
namespace {

using Reading = std::optional<double> BrokerSample::*;

struct Rise {
    double by = 0;
    double seconds = 0;
};

/// How much a counter rose between its first and its last reading.
std::optional<Rise> rise_of(const BrokerWindow& window, Reading counter) {
    const BrokerSample* first = nullptr;
    const BrokerSample* last = nullptr;
    for (const auto& s : window.samples) {
        if (!(s.*counter)) continue;
        if (!first) first = &s;
        last = &s;
    }
    if (!first || last->at_s <= first->at_s) return std::nullopt;
    return Rise{*(last->*counter) - *(first->*counter), last->at_s - first->at_s};
}

double rate_of(const BrokerWindow& window, Reading counter) {
    const auto rise = rise_of(window, counter);
    return rise ? rise->by / rise->seconds : 0;
}

/// Mean over those that `value_of` has something for.
template <class Items, class ValueOf>
std::optional<double> mean_of(const Items& items, ValueOf value_of) {
    double sum = 0;
    int readings = 0;
    for (const auto& item : items) {
        const std::optional<double> value = value_of(item);
        if (!value) continue;
        sum += *value;
        ++readings;
    }
    if (readings == 0) return std::nullopt;
    return sum / readings;
}

/// Producers at work in the window; 0 where it is not known.
double producers_in(const TrialWindow& window) {
    const double seconds = window.to_s - window.from_s;
    double producer_s = 0;
    for (const auto& agent : window.agents) producer_s += agent.producer_s;
    return seconds > 0 ? producer_s / seconds : 0;
}

}  // namespace

BrokerFigures figures_of(const BrokerWindow& broker, const TrialWindow& window, const JudgeRules& rules) {
    BrokerFigures figures{.broker_id = broker.broker_id,
                          .scrapes = static_cast<int>(broker.samples.size()),
                          .missed = broker.missed};
    figures.bytes_in_per_s = rate_of(broker, &BrokerSample::bytes_in);
    figures.messages_in_per_s = rate_of(broker, &BrokerSample::messages_in);
    // Kafka's gauge of network idle may lie a little above 1.
    figures.network_idle = mean_of(broker.samples, [](const BrokerSample& s) {
        return s.network_idle ? std::optional(std::clamp(*s.network_idle, 0.0, 1.0)) : std::nullopt;
    });
    figures.answer_ms = mean_of(window.agents, [&](const AgentWindow& agent) {
        const auto told = agent.answer_ms.find(broker.broker_id);
        return told == agent.answer_ms.end() ? std::nullopt : std::optional(told->second);
    });
    figures.isr_churn = isr_churn_over({broker}, window.from_s, window.to_s, rules.sub_window_s).value_or(0);
    const auto requests = rise_of(broker, &BrokerSample::produce_requests);
    const auto spent = rise_of(broker, &BrokerSample::produce_ms);
    if (requests && spent && requests->by > 0) {
        figures.produce_ms = std::max(0.0, spent->by / requests->by);
        if (const double producers = producers_in(window); producers > 0)
            figures.broker_time = std::clamp(spent->by / 1e3 / spent->seconds / producers, 0.0, 1.0);
    }
    return figures;
}

}  // namespace brink

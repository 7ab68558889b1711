#include "daemon/sweep/window_signals.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace brink {
namespace {

struct Mean {
    double sum = 0;
    int count = 0;
};

}  // namespace

std::map<std::string, double> gauges_between(const std::vector<ObservedScrape>& scrapes, double from_s,
                                             double to_s, const std::vector<SignalMark>& marks) {
    std::map<std::string, double> worst;
    for (const auto& mark : marks) {
        std::map<int, Mean> by_broker;
        for (const auto& scrape : scrapes) {
            if (!scrape.reading || scrape.at_s < from_s || scrape.at_s > to_s) continue;
            const auto value = scrape.reading->signals.find(mark.signal);
            if (value == scrape.reading->signals.end()) continue;
            auto& mean = by_broker[scrape.broker_id];
            mean.sum += value->second;
            ++mean.count;
        }
        for (const auto& [broker, mean] : by_broker) {
            const double value = mean.sum / mean.count;
            const auto [at, first] = worst.try_emplace(mark.signal, value);
            if (!first) at->second = mark.above ? std::max(at->second, value) : std::min(at->second, value);
        }
    }
    return worst;
}

std::vector<TrialSignals> signals_of(const std::vector<storage::TrialRow>& trials) {
    std::vector<TrialSignals> all;
    for (const auto& trial : trials) {
        if (trial.state != "finished" || trial.verdict == "invalid") continue;
        const auto verdict = nlohmann::json::parse(trial.verdict_json, nullptr, false);
        if (!verdict.is_object() || !verdict.contains("signals")) continue;
        TrialSignals signals{.msgs_per_s = trial.producers * trial.rate_each};
        for (const auto& [name, value] : verdict["signals"].items()) {
            if (value.is_number()) signals.values[name] = value.get<double>();
        }
        all.push_back(std::move(signals));
    }
    return all;
}

}  // namespace brink

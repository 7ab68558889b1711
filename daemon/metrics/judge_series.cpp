// What a range of a saved series shows; reading one is in saved_series.cpp.
#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <set>

#include "daemon/metrics/saved_series.hpp"

namespace brink {
namespace {

constexpr int kFewestScrapes = 3;
constexpr double kShortest_s = 10;
/// Idle over at least `kShortest_s` that one pool cannot reach, and one that two pools (one of them idle)
/// cannot.
constexpr double kTwoPoolsAbove = 1.15;
constexpr double kOnePoolBelow = 0.90;

struct Broker {
    std::vector<const ReadScrape*> all;
    std::vector<const ReadScrape*> in_range;
};

std::map<int, Broker> brokers_of(const std::vector<ReadScrape>& series, int from, int to) {
    std::map<int, Broker> brokers;
    for (const auto& s : series) {
        auto& broker = brokers[s.scrape.broker_id];
        broker.all.push_back(&s);
        if (s.scrape.seq >= from && s.scrape.seq <= to) broker.in_range.push_back(&s);
    }
    return brokers;
}

BrokerWindow window_of(int id, const std::vector<const ReadScrape*>& scrapes) {
    BrokerWindow window{.broker_id = id, .samples = {}};
    for (const auto* s : scrapes) {
        if (s->sample) {
            window.samples.push_back(*s->sample);
        } else {
            ++window.missed;
            window.last_error = s->page.refused;
        }
    }
    return window;
}

/// Whether a controller marks the meter of this broker too, from all that the series shows of it.
PoolMode mode_of(const Broker& broker) {
    PoolMode pages = PoolMode::unknown;
    for (const auto* s : broker.all) {
        if (!s->sample) continue;
        if (s->page.broker_meter || s->page.mode == PoolMode::combined) return s->page.mode;
        if (s->page.mode == PoolMode::broker) pages = PoolMode::broker;
    }
    for (std::size_t from = 0, to = 0; from < broker.all.size(); ++from) {
        const auto seconds = [&] { return broker.all[to]->sample->at_s - broker.all[from]->sample->at_s; };
        if (!broker.all[from]->sample) continue;
        to = std::max(to, from);
        while (to < broker.all.size() && (!broker.all[to]->sample || seconds() < kShortest_s)) ++to;
        if (to == broker.all.size()) break;
        const std::vector<const ReadScrape*> part(broker.all.begin() + static_cast<std::ptrdiff_t>(from),
                                                  broker.all.begin() + static_cast<std::ptrdiff_t>(to) + 1);
        const auto idle = idle_over(window_of(0, part));
        if (idle && *idle > kTwoPoolsAbove) return PoolMode::combined;
        if (idle && *idle < kOnePoolBelow) pages = PoolMode::broker;
    }
    return pages;
}

void add_steps(SeriesVerdict& result, int id, const Broker& broker) {
    const ReadScrape* previous = nullptr;
    for (const auto* s : broker.in_range) {
        if (!s->sample) continue;
        if (previous) {
            SeriesVerdict::Step step{
                .broker_id = id, .from_seq = previous->scrape.seq, .to_seq = s->scrape.seq};
            step.seconds = s->sample->at_s - previous->sample->at_s;
            const BrokerWindow both{.broker_id = id, .samples = {*previous->sample, *s->sample}};
            if (!s->sample->idle_gauge) step.idle = idle_over(both);
            auto quiet = both;
            for (auto& sample : quiet.samples) sample.under_replicated.reset();
            step.isr_changed =
                isr_churn_over({quiet}, previous->sample->at_s, s->sample->at_s, step.seconds).value_or(0) >
                0;
            step.under_replicated = s->sample->under_replicated.value_or(0);
            result.steps.push_back(step);
        }
        previous = s;
    }
}

/// What makes the range too little to judge by; empty when nothing does.
std::string too_little(int id, const Broker& broker) {
    if (broker.in_range.size() < kFewestScrapes) {
        return fmt::format("the range has {} scrapes of broker {}, at least {} are needed",
                           broker.in_range.size(), id, kFewestScrapes);
    }
    const auto& first = broker.in_range.front()->scrape;
    const auto& last = broker.in_range.back()->scrape;
    const double seconds = (last.begun_s + last.ended_s - first.begun_s - first.ended_s) / 2;
    if (seconds >= kShortest_s) return {};
    return fmt::format("the range covers {:.1f} s, at least {:.0f} s are needed", seconds, kShortest_s);
}

}  // namespace

SeriesVerdict judge_series(const std::vector<ReadScrape>& series, int from, int to, JudgeRules rules) {
    SeriesVerdict result;
    rules.min_scrapes = kFewestScrapes;
    TrialWindow window;
    std::vector<RestReading> rest;
    std::set<std::string> profiles;
    bool first = true;
    for (const auto& [id, broker] : brokers_of(series, from, to)) {
        if (auto fault = too_little(id, broker); !fault.empty()) window.voided.push_back(std::move(fault));
        window.brokers.push_back(window_of(id, broker.in_range));
        add_steps(result, id, broker);
        for (const auto* s : broker.in_range) {
            const double at = (s->scrape.begun_s + s->scrape.ended_s) / 2;
            window.from_s = first ? at : std::min(window.from_s, at);
            window.to_s = first ? at : std::max(window.to_s, at);
            first = false;
            if (!s->page.profile.empty()) profiles.insert(s->page.profile);
        }
        const auto mode = mode_of(broker);
        if (result.mode == PoolMode::unknown || mode == PoolMode::combined) result.mode = mode;
        const bool own_meter = std::any_of(broker.all.begin(), broker.all.end(),
                                           [](const ReadScrape* s) { return s->page.broker_meter; });
        if (own_meter) continue;
        if (mode == PoolMode::combined) {
            // Nobody saw it at rest: a controller that is idle all the time is the most that can be taken
            // off.
            rest.push_back({.broker_id = id, .idle = 2.0});
            result.verdict.flags.emplace_back("combined_meter");
        } else if (mode == PoolMode::unknown && idle_over(window.brokers.back())) {
            window.voided.push_back(
                fmt::format("broker {} reads about 1 throughout: an idle broker alone, or one that is "
                            "saturated beside an idle "
                            "controller on the same meter; add scrapes at rest, or of another load",
                            id));
        }
    }
    result.profiles.assign(profiles.begin(), profiles.end());
    const auto flags = result.verdict.flags;
    result.verdict = judge(window, rest, rules);
    result.verdict.flags.insert(result.verdict.flags.end(), flags.begin(), flags.end());
    result.rules = rules;
    return result;
}

}  // namespace brink

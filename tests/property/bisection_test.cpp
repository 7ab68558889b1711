#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>

#include "search/boundary_search.hpp"

using namespace brink;

namespace {

/// A world in which each load has a fixed verdict, drawn at random: also contradictory ones.
struct World {
    std::map<int, VerdictKind> verdicts;
    VerdictKind of(int n) {
        auto it = verdicts.find(n);
        if (it == verdicts.end()) {
            it = verdicts
                     .emplace(n, *rc::gen::element(VerdictKind::sustained, VerdictKind::overloaded,
                                                   VerdictKind::generator_limited, VerdictKind::invalid))
                     .first;
        }
        return it->second;
    }
};

SearchSettings arbitrary_settings() {
    SearchSettings settings;
    settings.margin = *rc::gen::element(0.01, 0.05, 0.15, 0.5);
    settings.hint = ProducerCount{*rc::gen::inRange(1, 300)};
    settings.ceiling = ProducerCount{*rc::gen::inRange(1, 5000)};
    settings.invalid_retries = *rc::gen::inRange(0, 5);
    if (*rc::gen::arbitrary<bool>()) settings.max = ProducerCount{*rc::gen::inRange(1, 2000)};
    return settings;
}

}  // namespace

TEST_CASE("BoundarySearch: always ends, stays in its window, reports only what it saw") {
    for (const auto& strategy : search_strategies()) {
        const bool holds = rc::check(strategy, [&] {
            const auto settings = arbitrary_settings();
            const int top = settings.max ? settings.max->value : settings.ceiling.value;
            World world;
            std::map<int, VerdictKind> seen;
            auto search = make_search(strategy, settings);
            for (int trials = 0;; ++trials) {
                RC_ASSERT(trials < 200);
                auto step = search->next();
                if (auto* attempt = std::get_if<TryLoad>(&step)) {
                    const int n = attempt->producers.value;
                    RC_ASSERT(n >= 1);
                    RC_ASSERT(n <= top);
                    RC_ASSERT(!attempt->why.empty());
                    seen[n] = world.of(n);
                    search->record({.producers = attempt->producers, .verdict = seen[n], .reason = "x"});
                    continue;
                }
                if (auto* done = std::get_if<PointDone>(&step)) {
                    if (done->lower) RC_ASSERT(seen.at(done->lower->value) == VerdictKind::sustained);
                    if (done->upper) RC_ASSERT(seen.at(done->upper->value) == VerdictKind::overloaded);
                    if (done->lower && done->upper) RC_ASSERT(done->lower->value < done->upper->value);
                    if (!done->lower || !done->upper) RC_ASSERT(!done->flags.empty());
                }
                break;
            }
        });
        CHECK(holds);
    }
}

TEST_CASE("BoundarySearch: brackets the truth of an honest world within the margin") {
    for (const auto& strategy : search_strategies()) {
        const bool holds = rc::check(strategy, [&] {
            auto settings = arbitrary_settings();
            settings.max.reset();
            settings.ceiling = ProducerCount{1'000'000};
            const int truth = *rc::gen::inRange(1, 5000);
            auto search = make_search(strategy, settings);
            for (int trials = 0;; ++trials) {
                RC_ASSERT(trials < 60);
                auto step = search->next();
                if (auto* attempt = std::get_if<TryLoad>(&step)) {
                    const bool over = attempt->producers.value > truth;
                    search->record({.producers = attempt->producers,
                                    .verdict = over ? VerdictKind::overloaded : VerdictKind::sustained});
                    continue;
                }
                const auto done = std::get<PointDone>(step);
                RC_ASSERT(done.lower->value <= truth);
                RC_ASSERT(done.upper->value > truth);
                RC_ASSERT(done.upper->value - done.lower->value <=
                          std::max(1.0, settings.margin * done.upper->value));
                break;
            }
        });
        CHECK(holds);
    }
}

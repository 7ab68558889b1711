#include "search/bisection.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace brink;

namespace {

struct Run {
    std::vector<int> tried;
    std::optional<PointDone> done;
    std::string failed;
};

/// Plays a search against `truth`, a function from producers to a verdict.
Run play(BoundarySearch& search, const std::function<VerdictKind(int)>& truth, int limit = 100) {
    Run run;
    while (static_cast<int>(run.tried.size()) < limit) {
        auto step = search.next();
        if (auto* attempt = std::get_if<TryLoad>(&step)) {
            run.tried.push_back(attempt->producers.value);
            search.record({.producers = attempt->producers,
                           .verdict = truth(attempt->producers.value),
                           .reason = "why"});
        } else if (auto* done = std::get_if<PointDone>(&step)) {
            run.done = *done;
            return run;
        } else {
            run.failed = std::get<PointFailed>(step).reason;
            return run;
        }
    }
    return run;
}

std::function<VerdictKind(int)> capacity(int n) {
    return [n](int producers) { return producers > n ? VerdictKind::overloaded : VerdictKind::sustained; };
}

}  // namespace

TEST_CASE("Bisection: tries midpoints of a given window until it is inside the margin") {
    Bisection search({.margin = 0.05, .max = ProducerCount{200}});
    auto run = play(search, capacity(60));
    CHECK(run.tried == std::vector<int>{100, 50, 75, 62, 56, 59});
    REQUIRE(run.done);
    CHECK(run.done->lower->value == 59);
    CHECK(run.done->upper->value == 62);
    CHECK(run.done->flags.empty());
}

TEST_CASE("Bisection: with auto it doubles from the hint until something overloads") {
    Bisection search({.margin = 0.15, .hint = ProducerCount{10}});
    auto run = play(search, capacity(33));
    CHECK(run.tried == std::vector<int>{10, 20, 40, 30, 35});
    CHECK(run.done->lower->value == 30);
    CHECK(run.done->upper->value == 35);
}

TEST_CASE("Bisection: a point that one producer overloads has no lower end") {
    Bisection search({.hint = ProducerCount{8}});
    auto run = play(search, capacity(0));
    REQUIRE(run.done);
    CHECK_FALSE(run.done->lower);
    CHECK(run.done->upper->value == 1);
    CHECK(run.done->flags == std::vector<std::string>{"below_one"});
}

TEST_CASE("Bisection: a given maximum is no upper end before it was seen to overload") {
    Bisection search({.margin = 0.05, .max = ProducerCount{100}});
    auto run = play(search, capacity(1000));
    CHECK(run.tried.back() == 100);
    CHECK(run.done->lower->value == 100);
    CHECK_FALSE(run.done->upper);
    CHECK(run.done->flags == std::vector<std::string>{"at_least"});
}

TEST_CASE("Bisection: what the agents cannot give ends the window without becoming a boundary") {
    Bisection search({.margin = 0.05, .hint = ProducerCount{50}});
    auto run =
        play(search, [](int n) { return n > 70 ? VerdictKind::generator_limited : VerdictKind::sustained; });
    CHECK(run.done->lower->value >= 67);
    CHECK(run.done->lower->value <= 70);
    CHECK_FALSE(run.done->upper);
    CHECK(run.done->flags == std::vector<std::string>{"generator_limited", "at_least"});
}

TEST_CASE("Bisection: nothing overloads up to the ceiling") {
    Bisection search({.hint = ProducerCount{50}, .ceiling = ProducerCount{300}});
    auto run = play(search, capacity(100'000));
    CHECK(run.tried == std::vector<int>{50, 100, 200, 300});
    CHECK(run.done->flags == std::vector<std::string>{"at_least"});
}

TEST_CASE("Bisection: an invalid trial is tried again at the same load, within a budget") {
    Bisection search({.max = ProducerCount{100}, .invalid_retries = 3});
    auto run = play(search, [](int) { return VerdictKind::invalid; });
    CHECK(run.tried == std::vector<int>{50, 50, 50, 50});
    CHECK(run.failed.find("why") != std::string::npos);
}

TEST_CASE("Bisection: replaying the recorded trials asks for the same next load") {
    SearchSettings settings{.margin = 0.05, .max = ProducerCount{200}};
    Bisection first(settings);
    std::vector<TrialOutcome> log;
    for (int i = 0; i < 4; ++i) {
        const auto n = std::get<TryLoad>(first.next()).producers;
        log.push_back(
            {.producers = n, .verdict = n.value > 90 ? VerdictKind::overloaded : VerdictKind::sustained});
        first.record(log.back());
    }
    Bisection replayed(settings);
    for (const auto& outcome : log) replayed.record(outcome);
    CHECK(std::get<TryLoad>(first.next()).producers == std::get<TryLoad>(replayed.next()).producers);
}

TEST_CASE("make_search: knows its names and no others") {
    for (const auto& name : search_strategies()) CHECK(make_search(name, {}) != nullptr);
    CHECK(make_search("random", {}) == nullptr);
}

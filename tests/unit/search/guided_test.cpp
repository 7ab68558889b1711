#include "search/guided.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

using namespace brink;

namespace {

/// Busy share of a load; more than 0.8 is overloaded.
using Busy = std::function<double(int)>;

struct Run {
    std::vector<int> tried;
    std::vector<std::string> why;
    std::optional<PointDone> done;
    std::string failed;
};

TrialOutcome outcome(int producers, double busy, double uncertainty = 0) {
    TrialOutcome trial;
    trial.producers = ProducerCount{producers};
    trial.verdict = busy > 0.8 ? VerdictKind::overloaded : VerdictKind::sustained;
    trial.worst_idle = std::max(0.0, 1 - busy);
    trial.idle_uncertainty = uncertainty;
    return trial;
}

/// Plays a search in a world that answers `trial(n, how often n was tried before)`.
Run play(Guided search, const std::function<TrialOutcome(int, int)>& trial, int limit = 60) {
    Run run;
    while (static_cast<int>(run.tried.size()) < limit) {
        auto step = search.next();
        if (auto* attempt = std::get_if<TryLoad>(&step)) {
            const int n = attempt->producers.value;
            const auto before = std::count(run.tried.begin(), run.tried.end(), n);
            run.tried.push_back(n);
            run.why.push_back(attempt->why);
            search.record(trial(n, static_cast<int>(before)));
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

Run play(const SearchSettings& settings, const Busy& busy) {
    return play(Guided(settings), [&](int n, int) { return outcome(n, busy(n)); });
}

Busy linear(double boundary) {
    return [=](int n) { return 0.8 * n / boundary; };
}

void check_bracket(const Run& run, double truth, double margin) {
    REQUIRE(run.done);
    REQUIRE(run.done->lower);
    REQUIRE(run.done->upper);
    CHECK(run.done->lower->value <= truth);
    CHECK(run.done->upper->value > truth);
    CHECK(run.done->upper->value - run.done->lower->value <= std::max(1.0, margin * run.done->upper->value));
}

}  // namespace

TEST_CASE("Guided: three trials find a linear boundary from a fair hint") {
    for (const double boundary : {38.3, 44.0, 50.2, 57.9, 63.0}) {
        CAPTURE(boundary);
        const auto run = play({.margin = 0.05}, linear(boundary));
        check_bracket(run, boundary, 0.05);
        CHECK(run.tried.size() == 3);
        CHECK(run.tried.front() == 40);
    }
}

TEST_CASE("Guided: a hint that is far off costs a trial or two") {
    for (const double boundary : {4.2, 11.7, 150.5, 400.1, 1900.3}) {
        CAPTURE(boundary);
        const auto run = play({.margin = 0.05}, linear(boundary));
        check_bracket(run, boundary, 0.05);
        CHECK(run.tried.size() <= 7);
    }
}

TEST_CASE("Guided: curved and cliffed shapes are bracketed as well") {
    const std::vector<std::pair<Busy, double>> shapes{
        {[](int n) { return 0.8 * std::pow(n / 70.5, 1.6); }, 70.5},
        {[](int n) { return 0.8 * std::pow(n / 30.5, 0.6); }, 30.5},
        {[](int n) { return n > 61.5 ? 1.0 : 0.3 * n / 61.5; }, 61.5},
        {[](int n) { return std::min(1.0, n / (n + 20.0) * 1.2); }, 40.0},
    };
    for (const auto& [busy, boundary] : shapes) {
        CAPTURE(boundary);
        const auto run = play({.margin = 0.05}, busy);
        check_bracket(run, boundary, 0.05);
        CHECK(run.tried.size() <= 9);
    }
}

TEST_CASE("Guided: a boundary without any idle to go by is bisected") {
    const auto run = play(Guided({.margin = 0.05, .max = ProducerCount{200}}), [](int n, int) {
        TrialOutcome trial;
        trial.producers = ProducerCount{n};
        trial.verdict = n > 60 ? VerdictKind::overloaded : VerdictKind::sustained;
        return trial;
    });
    check_bracket(run, 60, 0.05);
    CHECK(run.tried.size() <= 9);
}

TEST_CASE("Guided: a reading too near the threshold is taken again, three times at most") {
    // At 49 producers the reading says 0.199 or 0.203 idle with an uncertainty of 0.02.
    const auto world = [](int n, int before) {
        const double busy = n == 49 ? (before == 1 ? 0.797 : 0.801) : 0.8 * n / 49.3;
        return outcome(n, busy, 0.02);
    };
    const auto run = play(Guided({.margin = 0.05}), world);
    REQUIRE(run.done);
    for (const int n : run.tried) CHECK(std::count(run.tried.begin(), run.tried.end(), n) <= 3);
}

TEST_CASE("Guided: churn that fired once is seen twice before it bounds a point") {
    const auto world = [](int n, int) {
        auto trial = outcome(n, 0.8 * n / 200);
        if (n > 60) trial.verdict = VerdictKind::overloaded, trial.decided_by_idle = false;
        return trial;
    };
    const auto run = play(Guided({.margin = 0.1}), world);
    check_bracket(run, 60, 0.1);
    CHECK(std::count(run.tried.begin(), run.tried.end(), run.done->upper->value) == 2);
}

TEST_CASE("Guided: an overload that does not come again does not bound the point") {
    const auto world = [](int n, int before) {
        auto trial = outcome(n, 0.8 * n / 50.4);
        if (n == 40 && before == 0) trial.verdict = VerdictKind::overloaded, trial.decided_by_idle = false;
        return trial;
    };
    const auto run = play(Guided({.margin = 0.05}), world);
    check_bracket(run, 50.4, 0.05);
}

TEST_CASE("Guided: a contradiction that persists keeps the lower load as the bound and says so") {
    const auto world = [](int n, int) {
        auto trial = outcome(n, 0.5);
        const bool over = n > 30 && n < 40;
        trial.verdict = over ? VerdictKind::overloaded : VerdictKind::sustained;
        if (over) trial.worst_idle = 0.1;
        return trial;
    };
    Guided search({.margin = 0.05});
    for (const int n : {40, 32}) search.record(world(n, 0));
    const auto run = play(search, world);
    REQUIRE(run.done);
    CHECK(run.done->upper->value == 31);
    CHECK(run.done->lower->value == 30);
    CHECK(run.done->flags == std::vector<std::string>{"irregular"});
}

TEST_CASE("Guided: nothing overloads up to the maximum") {
    const auto run = play({.margin = 0.05, .max = ProducerCount{60}}, linear(1e6));
    REQUIRE(run.done);
    CHECK(run.done->lower->value == 60);
    CHECK_FALSE(run.done->upper);
    CHECK(run.done->flags == std::vector<std::string>{"at_least"});
}

TEST_CASE("Guided: one producer overloads") {
    const auto run = play({.margin = 0.05}, [](int) { return 1.0; });
    REQUIRE(run.done);
    CHECK_FALSE(run.done->lower);
    CHECK(run.done->upper->value == 1);
    CHECK(run.done->flags == std::vector<std::string>{"below_one"});
}

TEST_CASE("Guided: what the agents cannot give is no boundary") {
    const auto run = play(Guided({.margin = 0.05}), [](int n, int) {
        auto trial = outcome(n, 0.8 * n / 300);
        if (n > 90) trial.verdict = VerdictKind::generator_limited;
        return trial;
    });
    REQUIRE(run.done);
    CHECK(run.done->lower->value >= 86);
    CHECK(run.done->lower->value <= 90);
    CHECK_FALSE(run.done->upper);
    CHECK(run.done->flags == std::vector<std::string>{"generator_limited", "at_least"});
}

TEST_CASE("Guided: invalid trials are tried again with the same load, and in the end the point fails") {
    const auto run = play(Guided({.invalid_retries = 2}), [](int n, int) {
        TrialOutcome trial;
        trial.producers = ProducerCount{n};
        trial.reason = "broker 2 is silent";
        return trial;
    });
    CHECK(run.tried == std::vector<int>{40, 40, 40});
    CHECK(run.failed.find("broker 2 is silent") != std::string::npos);
    CHECK(run.why.back().find("again") != std::string::npos);
}

TEST_CASE("Guided: fed the same outcomes it asks for the same load") {
    Guided first({.margin = 0.05});
    std::vector<TrialOutcome> log;
    for (int i = 0; i < 6; ++i) {
        const auto step = first.next();
        const auto* attempt = std::get_if<TryLoad>(&step);
        if (!attempt) break;
        log.push_back(outcome(attempt->producers.value, 0.8 * attempt->producers.value / 73.0));
        first.record(log.back());
        Guided again({.margin = 0.05});
        for (const auto& trial : log) again.record(trial);
        CHECK(first.next().index() == again.next().index());
        const auto a = first.next();
        const auto b = again.next();
        if (const auto* x = std::get_if<TryLoad>(&a))
            CHECK(*x->why.c_str() == *std::get<TryLoad>(b).why.c_str());
    }
}

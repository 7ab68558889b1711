#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/fakes/late_metrics.hpp"
#include "tests/fakes/one_trial.hpp"

using namespace brink;
using namespace brink::fakes;

namespace {

/// One trial of 10 s + 120 s, scraped every 5 s, at the idle that the load of 100 msg/s leaves.
struct Trial : OneTrial {
    explicit Trial(double idle) : OneTrial(120, 5) {
        set_idle(idle);
        order.early_end = true;
        order.max_extensions = 2;
    }
    void set_idle(double idle) { model.capacity_msgs_per_s = 100 / (1 - idle); }
    /// Idle goes from one to the other every `half_s`, so that a window is in doubt of what lies between
    /// them.
    void alternate(double one, double other, double half_s = 30, double until_s = 1e9, double then = 0) {
        model.clock.at_time = [=, this](double now) {
            const bool first = static_cast<int>((now - 1000) / half_s) % 2 == 0;
            set_idle(now - 1000 > until_s ? then : first ? one : other);
        };
    }
    TrialResult run() { return OneTrial::run(metrics); }
    static double length(const TrialResult& result) { return result.to_s - result.from_s; }

    FakeMetrics metrics{model};
};

}  // namespace

TEST_CASE("TrialRunner: a window ends early where nothing is in doubt, and is whole seconds all the same") {
    Trial calm(0.7);
    const auto sustained = calm.run();
    CHECK(sustained.verdict.kind == VerdictKind::sustained);
    CHECK(sustained.ended_early);
    CHECK(Trial::length(sustained) >= 85);
    CHECK(Trial::length(sustained) <= 91);
    CHECK(Trial::length(sustained) == std::floor(Trial::length(sustained)));
    CHECK(sustained.totals.scheduled == static_cast<std::uint64_t>(100 * Trial::length(sustained)));
    CHECK(sustained.acked_msgs_per_s == doctest::Approx(100));
    Trial busy(0.05);
    const auto overloaded = busy.run();
    CHECK(overloaded.verdict.kind == VerdictKind::overloaded);
    CHECK(overloaded.ended_early);
    CHECK(Trial::length(overloaded) <= 61);
    CHECK(busy.model.load_msgs_per_s == 0);
}

TEST_CASE("TrialRunner: with early_end off every window is as long as was ordered") {
    Trial t(0.05);
    t.order.early_end = false;
    const auto result = t.run();
    CHECK_FALSE(result.ended_early);
    CHECK(Trial::length(result) == 120);
}

TEST_CASE("TrialRunner: a window that leaves doubt goes on, with the load held, up to its limit") {
    Trial t(0.2);
    t.alternate(0.1, 0.31);
    const auto result = t.run();
    CHECK(result.extensions == 2);
    CHECK_FALSE(result.ended_early);
    CHECK(Trial::length(result) == 120 + 2 * 30);
    CHECK(result.totals.scheduled == 180 * 100);
    CHECK(std::count(result.verdict.flags.begin(), result.verdict.flags.end(), "undecided") == 1);
    CHECK(std::count(t.model.log.begin(), t.model.log.end(), "stop") == 1);
    Trial none(0.2);
    none.alternate(0.1, 0.31);
    none.order.max_extensions = 0;
    const auto as_ordered = none.run();
    CHECK(as_ordered.extensions == 0);
    CHECK(Trial::length(as_ordered) == 120);
    CHECK(std::count(as_ordered.verdict.flags.begin(), as_ordered.verdict.flags.end(), "undecided") == 1);
}

TEST_CASE("TrialRunner: a window stops going on as soon as the doubt is gone") {
    Trial t(0.2);
    t.alternate(0.16, 0.26, 30, 131, 0.26);
    t.order.max_extensions = 20;
    const auto result = t.run();
    CHECK(result.extensions >= 1);
    CHECK(result.extensions < 20);
    CHECK(result.verdict.kind == VerdictKind::sustained);
    CHECK(std::count(result.verdict.flags.begin(), result.verdict.flags.end(), "undecided") == 0);
}

TEST_CASE("TrialRunner: samples that come late are waited for before a window ends early or goes on") {
    Trial calm(0.7);
    LateMetrics late(calm.model, 5, 13);
    const auto result = calm.OneTrial::run(late);
    CHECK(result.verdict.kind == VerdictKind::sustained);
    CHECK(result.ended_early);
    CHECK(Trial::length(result) >= 85 + 13);
    Trial doubt(0.2);
    doubt.alternate(0.1, 0.31);
    LateMetrics late_too(doubt.model, 5, 13);
    const auto longer = doubt.OneTrial::run(late_too);
    CHECK(longer.extensions >= 1);
    for (const int broker : {1, 2, 3}) {
        const auto readings = readings_in_window(longer, broker);
        CHECK(static_cast<double>(readings) >= Trial::length(longer) / 5 - 1);
    }
}

#include "search/early_look.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace brink;

namespace {

/// Scraped each 5 s; idle of each step is `idle` plus noise, with the −0.2 lag-1 correlation that counters
/// have.
TrialWindow window_of(double idle, double noise, int scrapes, unsigned seed, double slope = 0) {
    std::mt19937 random{seed};
    std::normal_distribution<double> normal{0, noise};
    BrokerWindow broker{.broker_id = 1, .samples = {}};
    double count = 5e12;
    double before = 0;
    for (int i = 0; i < scrapes; ++i) {
        BrokerSample sample{.at_s = 5.0 * i};
        const double now = normal(random);
        if (i > 0) count += (idle + slope * i + now - 0.25 * before) * 5e9;
        before = now;
        sample.idle_ns = count;
        sample.isr_shrinks = 0;
        broker.samples.push_back(sample);
    }
    TrialWindow window{.from_s = 0, .to_s = 5.0 * (scrapes - 1), .brokers = {broker}, .agents = {}};
    return window;
}

}  // namespace

TEST_CASE("look_at: clear loads end early") {
    CHECK(look_at(window_of(0.05, 0.01, 13, 1), {}, {}) == Look::overloaded);
    CHECK(look_at(window_of(0.60, 0.03, 13, 1), {}, {}) == Look::sustained);
}

TEST_CASE("look_at: never sustained in under a minute, while idle falls, or when replicas moved") {
    CHECK(look_at(window_of(0.60, 0.03, 12, 1), {}, {}) == Look::go_on);  // 55 s
    CHECK(look_at(window_of(0.60, 0.01, 24, 1, -0.01), {}, {}) == Look::go_on);
    auto moved = window_of(0.60, 0.03, 24, 1);
    moved.brokers.front().samples.back().isr_shrinks = 1;
    CHECK(look_at(moved, {}, {}) == Look::go_on);
    auto restarted = window_of(0.60, 0.03, 24, 1);
    restarted.brokers.front().samples.back().idle_ns = 1e6;
    CHECK(look_at(restarted, {}, {}) == Look::go_on);
}

TEST_CASE("look_at: looking five times is wrong in few of 1,000 windows just beside the threshold") {
    int wrong = 0;
    for (unsigned seed = 0; seed < 1000; ++seed) {
        for (const int scrapes : {12, 18, 24, 30, 36}) {
            const auto look = look_at(window_of(0.205, 0.03, scrapes + 1, seed), {}, {});
            if (look == Look::go_on) continue;
            wrong += look == Look::overloaded ? 1 : 0;
            break;
        }
    }
    CHECK(wrong < 30);
}

TEST_CASE("is_time_to_look: at the five counts and no other") {
    int looks = 0;
    for (int n = 0; n < 100; ++n) looks += is_time_to_look(n) ? 1 : 0;
    CHECK(looks == 5);
    CHECK(is_time_to_look(12));
    CHECK(!is_time_to_look(13));
}

TEST_CASE("is_undecided: within its uncertainty of the threshold") {
    Verdict verdict{.kind = VerdictKind::sustained};
    verdict.figures = {{.rule = "io_idle", .value = 0.22, .threshold = 0.20, .uncertainty = 0.03}};
    CHECK(is_undecided(verdict));
    verdict.figures.front().uncertainty = 0.01;
    CHECK(!is_undecided(verdict));
    verdict.figures.front().uncertainty = 0.03;
    verdict.kind = VerdictKind::invalid;
    CHECK(!is_undecided(verdict));
}

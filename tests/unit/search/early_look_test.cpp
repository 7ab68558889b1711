#include "search/early_look.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace brink;

namespace {

/// One broker scraped every 5 s, `samples` times; its idle is `idle` with a normal noise of each step.
TrialWindow noisy(double idle, double noise, int samples, unsigned seed = 1) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> of(idle, noise > 0 ? noise : 1e-12);
    BrokerWindow broker{.broker_id = 1, .samples = {}};
    double idle_ns = 7e12;
    for (int i = 0; i < samples; ++i) {
        BrokerSample sample{.at_s = 5.0 * i};
        if (i > 0) idle_ns += 5e9 * std::clamp(of(random), 0.0, 1.0);
        sample.idle_ns = idle_ns;
        sample.isr_shrinks = 0;
        sample.isr_expands = 0;
        sample.under_replicated = 0;
        sample.messages_in = 100.0 * i;
        broker.samples.push_back(sample);
    }
    TrialWindow window{.from_s = 0, .to_s = 5.0 * (samples - 1), .brokers = {broker}, .agents = {}};
    window.scrape_interval_s = 5;
    return window;
}

const std::vector<RestReading> kRest{{.broker_id = 1, .idle = 0.99}};

}  // namespace

TEST_CASE("look_is_due: at 12, 18, 24, 30 and 36 samples, once each, and at no other") {
    std::vector<int> looks;
    for (int samples = 1; samples < 60; ++samples) {
        if (look_is_due(samples - 1, samples)) looks.push_back(samples);
    }
    CHECK(looks == std::vector<int>{12, 18, 24, 30, 36});
    CHECK(look_is_due(10, 14));  // several at once, as from a Prometheus server
    CHECK_FALSE(look_is_due(12, 12));
}

TEST_CASE("fewest_samples: the broker with the fewest counts") {
    auto window = noisy(0.5, 0, 14);
    window.brokers.push_back(window.brokers[0]);
    window.brokers[1].samples.resize(9);
    CHECK(fewest_samples(window) == 9);
    CHECK(fewest_samples({}) == 0);
}

TEST_CASE("look_at: what is far from the threshold ends the window, what is near does not") {
    CHECK(look_at(noisy(0.05, 0.02, 12), kRest, {}) == Look::overloaded);
    CHECK(look_at(noisy(0.60, 0.02, 18), kRest, {}) == Look::sustained);
    CHECK(look_at(noisy(0.21, 0.04, 18), kRest, {}) == Look::go_on);
    CHECK(look_at(noisy(0.19, 0.04, 18), kRest, {}) == Look::go_on);
}

TEST_CASE("look_at: sustained needs a minute, full ISRs, nothing that rises and enough scrapes") {
    CHECK(look_at(noisy(0.60, 0.02, 12), kRest, {}) == Look::go_on);  // 55 s: churn comes up to 45 s late
    auto lacking = noisy(0.60, 0.02, 18);
    lacking.brokers[0].samples.back().under_replicated = 1;
    CHECK(look_at(lacking, kRest, {}) == Look::go_on);
    auto waiting = noisy(0.60, 0.02, 18);
    for (int s = 0; s < 80; ++s) waiting.waits_ms.push_back({s + 0.5, 20.0 + 40 * s});
    CHECK(look_at(waiting, kRest, {}) == Look::go_on);
    auto missing = noisy(0.60, 0.02, 18);
    missing.brokers[0].missed = 6;
    CHECK(look_at(missing, kRest, {}) == Look::go_on);
    auto voided = noisy(0.05, 0.02, 18);
    voided.voided = {"a guard"};
    CHECK(look_at(voided, kRest, {}) == Look::go_on);
}

TEST_CASE("look_at: churn ends the window as well, once it is certain") {
    auto churning = noisy(0.60, 0.02, 12);
    for (auto& sample : churning.brokers[0].samples) sample.isr_shrinks = sample.at_s;
    CHECK(look_at(churning, kRest, {}) == Look::overloaded);
    auto some = noisy(0.60, 0.02, 18);
    for (std::size_t i = 0; i < some.brokers[0].samples.size(); ++i)
        some.brokers[0].samples[i].isr_shrinks = static_cast<double>(i / 2);  // every other sub-window
    CHECK(look_at(some, kRest, {}) == Look::go_on);
}

TEST_CASE("look_at: the agents' part is not asked, since their newest seconds are not acknowledged yet") {
    auto window = noisy(0.60, 0.02, 18);
    window.agents = {{.agent = "a", .scheduled = 1000, .acked = 900}};
    CHECK(look_at(window, kRest, {}) == Look::sustained);
}

TEST_CASE("look_at: near the threshold it is seldom certain of what is not so, however noisy the idle") {
    // Over all looks of a window, at the noise that real brokers show (0.02 to 0.04 a step).
    constexpr int kSeeds = 2'000;
    for (const double noise : {0.02, 0.04, 0.08}) {
        int wrong = 0;
        for (unsigned seed = 0; seed < kSeeds; ++seed) {
            for (const int samples : {12, 18, 24}) {
                const auto look = look_at(noisy(0.205, noise, samples, seed), kRest, {});
                if (look == Look::go_on) continue;
                if (look == Look::overloaded) ++wrong;
                break;
            }
        }
        CAPTURE(noise);
        CHECK(wrong < kSeeds * 3 / 200);  // 1.5 %: three looks at half a percent each
    }
}

TEST_CASE("undecided: idle within its own uncertainty of the threshold, and no other rule speaks") {
    Verdict verdict{.kind = VerdictKind::sustained};
    CHECK_FALSE(undecided(verdict));  // no figure
    verdict.figures = {{.rule = "io_idle", .value = 0.22, .threshold = 0.20, .uncertainty = 0.03}};
    CHECK(undecided(verdict));
    verdict.figures[0].uncertainty = 0.01;
    CHECK_FALSE(undecided(verdict));
    verdict.figures[0] = {
        .rule = "io_idle", .value = 0.19, .threshold = 0.20, .uncertainty = 0.03, .fired = true};
    verdict.kind = VerdictKind::overloaded;
    verdict.limited_by = "io_idle";
    CHECK(undecided(verdict));
    verdict.figures.push_back({.rule = "isr_churn", .value = 0.8, .threshold = 0.5, .fired = true});
    CHECK_FALSE(undecided(verdict));
    verdict.figures.pop_back();
    verdict.kind = VerdictKind::invalid;
    CHECK_FALSE(undecided(verdict));
}

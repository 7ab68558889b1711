// Windowed idle of the kinds of signals that are not a broker's idle counter.
#include <doctest/doctest.h>

#include <cmath>

#include "search/verdict.hpp"

using namespace brink;

namespace {

/// A one-minute average that sees `idle` from second 0 on, after `before`, scraped each 5 s from `from` to
/// `to`.
BrokerWindow average(double before, double idle, int from, int to) {
    BrokerWindow window{.broker_id = 1, .samples = {}};
    for (int s = from; s <= to; s += 5) {
        BrokerSample sample{.at_s = static_cast<double>(s)};
        sample.idle_gauge = idle + (before - idle) * std::exp(-s / 60.0);
        sample.idle_gauge_s = 60;
        window.samples.push_back(sample);
    }
    return window;
}

}  // namespace

TEST_CASE("window_idle: a one-minute average counts once it has settled over two minutes") {
    const auto settled = window_idle(average(0.97, 0.10, 60, 185));
    REQUIRE(settled);
    CHECK(settled->value == doctest::Approx(0.10).epsilon(0.01));
    CHECK(settled->uncertainty > 0.02);
    CHECK(settled->uncertainty < 0.08);
}

TEST_CASE("window_idle: a one-minute average in too short a window, or still moving, is no reading") {
    const auto short_one = window_idle(average(0.97, 0.10, 0, 60));
    REQUIRE(!short_one);
    CHECK(short_one.error().find("at least 120 s") != std::string::npos);
    // The trap: 109 s of saturation and the gauge still says 0.2 and more.
    const auto moving = window_idle(average(0.97, 0.05, 0, 120));
    REQUIRE(!moving);
    CHECK(moving.error().find("has not settled") != std::string::npos);
}

TEST_CASE("window_idle: the busiest shard decides, and a counter that went back is no reading") {
    BrokerWindow window{.broker_id = 1, .samples = {}};
    for (int s = 0; s <= 20; ++s) {
        BrokerSample sample{.at_s = static_cast<double>(s)};
        sample.busy_s = {100 + 0.3 * s, 200 + 0.95 * s};
        window.samples.push_back(sample);
    }
    CHECK(window_idle(window)->value == doctest::Approx(0.05));
    window.samples[10].busy_s[0] = 1;
    CHECK(!window_idle(window));
}

TEST_CASE("window_idle: averages over seconds are averaged") {
    BrokerWindow window{.broker_id = 1, .samples = {}};
    for (int s = 0; s < 20; ++s) {
        BrokerSample sample{.at_s = static_cast<double>(s)};
        sample.idle_gauge = s % 2 == 0 ? 0.1 : 0.3;
        sample.idle_gauge_s = 5;
        window.samples.push_back(sample);
    }
    CHECK(window_idle(window)->value == doctest::Approx(0.2));
    CHECK(window_idle(window)->uncertainty < 0.1);
}

TEST_CASE("isr_churn_over: a one-minute rate that decays is quiet, one that rises is an event") {
    BrokerWindow window{.broker_id = 1, .samples = {}};
    for (int s = 0; s <= 20; s += 5) {
        BrokerSample sample{.at_s = static_cast<double>(s)};
        sample.isr_shrinks_rate = 0.2 * std::exp(-s / 60.0);
        window.samples.push_back(sample);
    }
    CHECK(*isr_churn_over({window}, 0, 20, 5) == 0);
    window.samples[2].isr_shrinks_rate = 0.4;
    CHECK(*isr_churn_over({window}, 0, 20, 5) == doctest::Approx(0.25));
}

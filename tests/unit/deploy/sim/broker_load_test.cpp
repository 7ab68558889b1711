#include "deploy/sim/broker_load.hpp"

#include <doctest/doctest.h>

using namespace brink::sim;

namespace {

CapacityModel quiet() {
    CapacityModel model;
    model.io_threads = 2;
    model.us_per_request = 0;
    model.us_per_message = 100;
    model.us_per_byte = 0;
    model.noise = 0;
    return model;
}

/// Sends `per_s` messages a second in even steps of 10 ms, from `from_s` to `to_s`.
void send(BrokerLoad& load, double per_s, double from_s, double to_s) {
    for (int i = 0; i < static_cast<int>((to_s - from_s) * 100); ++i)
        load.arrive(from_s + i * 0.01, 1, per_s / 100, per_s);
}

}  // namespace

TEST_CASE("BrokerLoad: without work the idle meter grows by a second each second") {
    BrokerLoad load(quiet(), 1, 50);
    CHECK(load.at(53.25).idle_ns == doctest::Approx(3.25e9));
    CHECK(load.at(53.25).idle_one_minute == doctest::Approx(1));
}

TEST_CASE("BrokerLoad: idle is what the threads did not work, whatever the window") {
    BrokerLoad load(quiet(), 1, 0);
    // 10,000 msg/s × 100 µs are one thread of two.
    send(load, 10'000, 0, 6);
    const auto from = load.at(6).idle_ns;
    send(load, 10'000, 6, 8.5);
    CHECK((load.at(8.5).idle_ns - from) / 2.5e9 == doctest::Approx(0.5).epsilon(0.01));
    CHECK(load.at(8.5).messages == doctest::Approx(85'000));
    CHECK(load.at(8.5).requests == doctest::Approx(850));
    CHECK(load.busy() == doctest::Approx(0.5).epsilon(0.01));
}

TEST_CASE("BrokerLoad: past saturation nothing is idle, requests wait, and what waits is done first") {
    BrokerLoad load(quiet(), 1, 0);
    send(load, 30'000, 0, 1);
    CHECK(load.at(1).idle_ns == doctest::Approx(0).epsilon(0.01));
    CHECK(load.wait_s(1) == doctest::Approx(0.5).epsilon(0.05));
    send(load, 30'000, 1, 10);
    CHECK(load.wait_s(10) == doctest::Approx(5).epsilon(0.05));
    const auto idle = load.at(10).idle_ns;
    CHECK((load.at(17).idle_ns - idle) / 1e9 == doctest::Approx(2).epsilon(0.05));
}

TEST_CASE("BrokerLoad: what waits is bounded") {
    BrokerLoad load(quiet(), 1, 0);
    load.arrive(0.5, 1, 1e7, 1e9);
    CHECK(load.wait_s(0.5) == doctest::Approx(30));
}

TEST_CASE("BrokerLoad: the smoothed share lags behind, as a real broker's does") {
    BrokerLoad load(quiet(), 1, 0);
    send(load, 20'000, 0, 10);
    CHECK(load.at(10).idle_one_minute > 0.8);
    send(load, 20'000, 10, 180);
    CHECK(load.at(180).idle_one_minute < 0.1);
}

TEST_CASE("BrokerLoad: the same seed gives the same noise, another broker or seed another") {
    auto noisy = quiet();
    noisy.noise = 0.05;
    const auto idle_after = [](const CapacityModel& model, int broker) {
        BrokerLoad load(model, broker, 0);
        send(load, 10'000, 0, 20);
        return load.at(20).idle_ns / 20e9;
    };
    const double one = idle_after(noisy, 1);
    CHECK(one == idle_after(noisy, 1));
    CHECK(one != idle_after(noisy, 2));
    CHECK(one == doctest::Approx(0.5).epsilon(0.05));
    noisy.seed = 2;
    CHECK(one != idle_after(noisy, 1));
}

TEST_CASE("BrokerLoad: the meter never runs backwards, however finely it is read") {
    auto noisy = quiet();
    noisy.noise = 0.5;
    BrokerLoad load(noisy, 1, 0);
    double last = 0;
    for (int i = 1; i < 5'000; ++i) {
        load.arrive(i * 0.003, 1, 20, 20);
        const double now = load.at(i * 0.003).idle_ns;
        REQUIRE(now >= last);
        REQUIRE(now - last <= 0.0031e9);
        last = now;
    }
}

TEST_CASE("BrokerLoad: a slow broker is busier with the same traffic") {
    BrokerLoad load(quiet(), 1, 0);
    load.slow(1.5);
    send(load, 10'000, 0, 4);
    CHECK(load.at(4).idle_ns / 4e9 == doctest::Approx(0.25).epsilon(0.02));
}

TEST_CASE("BrokerLoad: a restart starts every counter from 0") {
    BrokerLoad load(quiet(), 1, 0);
    send(load, 10'000, 0, 5);
    load.restart(5);
    CHECK(load.at(5).messages == 0);
    CHECK(load.at(7).idle_ns == doctest::Approx(2e9));
}

TEST_CASE("BrokerLoad: followers that cannot keep up leave after the lag, flap, and come back") {
    auto model = quiet();
    model.churn_above_busy = 0.6;
    model.churn_lag_s = 5;
    BrokerLoad load(model, 1, 0);
    load.lead(10);
    send(load, 10'000, 0, 20);  // 50 % busy: they keep up
    CHECK(load.at(20).isr_shrinks == 0);
    send(load, 15'000, 20, 24);  // 75 % busy, but not for long enough
    CHECK(load.at(24).isr_shrinks == 0);
    send(load, 15'000, 24, 40);
    CHECK(load.at(40).isr_shrinks >= 20);
    CHECK(load.at(40).isr_expands >= 10);
    const auto before = load.at(40);
    send(load, 1'000, 40, 45);
    CHECK(load.at(45).under_replicated == 0);
    CHECK(load.at(45).isr_shrinks - load.at(45).isr_expands == 0);
    CHECK(load.at(45).isr_shrinks == before.isr_shrinks);
}

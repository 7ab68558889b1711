#include "deploy/sim/broker_metrics.hpp"

#include <doctest/doctest.h>

#include "daemon/metrics/metrics_source.hpp"

using namespace brink;

TEST_CASE("exposition: brink reads back from it what the broker counted") {
    sim::BrokerCounters counters;
    counters.idle_ns = 123'456'789'012.7;
    counters.idle_one_minute = 0.93;
    counters.idle_mean = 0.99;
    counters.messages = 1'234'567;
    counters.bytes = 9'876'543'210;
    counters.isr_shrinks = 7;
    counters.isr_expands = 5;
    counters.under_replicated = 2;
    const auto reading = read_scrape(sim::exposition(counters));
    REQUIRE_MESSAGE(reading, reading.error().message);
    CHECK(reading->sample.idle_ns == doctest::Approx(123'456'789'012.0).epsilon(1e-15));
    CHECK(reading->sample.isr_shrinks == 7);
    CHECK(reading->sample.isr_expands == 5);
    CHECK(reading->sample.under_replicated == 2);
    CHECK(reading->sample.bytes_in == 9'876'543'210);
}

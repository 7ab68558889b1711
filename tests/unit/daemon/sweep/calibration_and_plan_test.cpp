#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "daemon/sweep/plan.hpp"
#include "daemon/sweep/preflight.hpp"
#include "daemon/sweep/rate_calibration.hpp"
#include "daemon/sweep/sweep_id.hpp"
#include "daemon/sweep/topic_settings.hpp"

using namespace brink;

namespace {

/// A broker that is busy in proportion to the rate.
CalibrationStep broker_of(double capacity, int& steps) {
    return [capacity, &steps](MessagesPerSecond each,
                              const std::string&) -> tl::expected<CalibrationReading, Error> {
        ++steps;
        return CalibrationReading{.busy = std::min(1.0, each.value * 10 / capacity)};
    };
}

}  // namespace

TEST_CASE("calibrate_rate: fifty producers of it make a broker 80 % busy") {
    for (const double capacity : {60.0, 500.0, 2'000.0, 123'456.0, 5e6}) {
        int steps = 0;
        const auto rate = calibrate_rate(broker_of(capacity, steps));
        REQUIRE(rate);
        CHECK(rate->value * 50 == doctest::Approx(0.8 * capacity).epsilon(0.06));
        CHECK(steps <= 12);
    }
}

TEST_CASE("calibrate_rate: a broker that is cold at first does not end it") {
    int steps = 0;
    const auto rate = calibrate_rate(
        [&](MessagesPerSecond each, const std::string&) -> tl::expected<CalibrationReading, Error> {
            const double warm = each.value * 10 / 5'000;
            return CalibrationReading{.busy = ++steps == 1 ? 0.37 : warm};
        });
    REQUIRE(rate);
    CHECK(rate->value * 50 == doctest::Approx(0.8 * 5'000).epsilon(0.06));
}

TEST_CASE("calibrate_rate: gives up with what to set when nothing moves, and passes on errors") {
    const auto nothing =
        calibrate_rate([](MessagesPerSecond, const std::string&) -> tl::expected<CalibrationReading, Error> {
            return CalibrationReading{.busy = 0};
        });
    REQUIRE_FALSE(nothing);
    CHECK(nothing.error().message.find("producers.rate_each") != std::string::npos);
    const auto broken =
        calibrate_rate([](MessagesPerSecond, const std::string&) -> tl::expected<CalibrationReading, Error> {
            return tl::unexpected(Error{ErrorCode::cancelled, "cancelled", {}});
        });
    CHECK(broken.error().code == ErrorCode::cancelled);
}

TEST_CASE("calibrate_rate: agents at their limit end the doubling") {
    const auto rate = calibrate_rate(
        [](MessagesPerSecond each, const std::string&) -> tl::expected<CalibrationReading, Error> {
            return CalibrationReading{.busy = 0.001, .generator_limited = each.value > 1000};
        });
    REQUIRE(rate);
    CHECK(rate->value > 1000);
}

TEST_CASE(
    "calibrate_rate: what a quota ends is divided by fifty, since the brokers' idle says nothing of it") {
    const auto rate = calibrate_rate(
        [](MessagesPerSecond each, const std::string&) -> tl::expected<CalibrationReading, Error> {
            return CalibrationReading{.busy = 0.05, .overloaded_otherwise = each.value * 10 > 600};
        });
    REQUIRE(rate);
    CHECK(rate->value * 50 > 600);
    CHECK(rate->value * 50 < 600 * 8);
}

TEST_CASE("two_digits: rounds to two significant digits") {
    CHECK(two_digits(1234) == 1200);
    CHECK(two_digits(0.0567) == doctest::Approx(0.057));
    CHECK(two_digits(99.6) == 100);
    CHECK(two_digits(0) == 0);
}

TEST_CASE("plan_of: more sizes and smaller margins cost more, the worst case most") {
    SweepSpec spec{.cluster = "c", .message_bytes = {100, 1000}};
    const auto plan = plan_of(spec);
    CHECK(plan.points == 2);
    CHECK(plan.trials_worst > plan.trials_expected);
    CHECK(plan.minutes_worst > plan.minutes_expected);
    spec.margin = 0.5;
    CHECK(plan_of(spec).trials_expected < plan.trials_expected);
}

TEST_CASE("topic_settings: all replicas together stay within the disk budget, and the spec goes on top") {
    SweepSpec spec{.cluster = "c", .message_bytes = {100'000}};
    const auto settings = topic_settings(spec, 3);
    CHECK(2 * 90 * std::stoll(settings.at("segment.bytes")) <= 8'100'000'000);
    CHECK(std::stoll(settings.at("segment.bytes")) >= 200'000);
    spec.topic_config["retention.bytes"] = "5";
    CHECK(topic_settings(spec, 3).at("retention.bytes") == "5");
}

TEST_CASE("check_fits: sizes over the limit and too many copies are refused at their pointers") {
    SweepSpec spec{.cluster = "c", .message_bytes = {100, 1'048'588}, .replication_factor = 4};
    Preflight look;
    for (int id = 1; id <= 3; ++id) {
        BrokerCheck broker{.info = {.id = id}};
        broker.message_max_bytes = 1'048'588;
        look.brokers.push_back(broker);
    }
    const auto fits = check_fits(spec, look);
    REQUIRE_FALSE(fits);
    REQUIRE(fits.error().details.size() == 2);
    CHECK(fits.error().details[0].pointer == "/message_bytes/1");
    CHECK(fits.error().details[1].pointer == "/topic/replication_factor");
    spec.replication_factor.reset();
    spec.topic_config["max.message.bytes"] = "2000000";
    CHECK(check_fits(spec, look));
}

TEST_CASE("new_sweep_id: sorts by time and does not repeat") {
    CHECK(new_sweep_id(1'700'000'000'000) < new_sweep_id(1'700'000'001'000));
    std::set<std::string> ids;
    for (int i = 0; i < 1000; ++i) ids.insert(new_sweep_id(1'700'000'000'000));
    CHECK(ids.size() == 1000);
}

TEST_CASE("calibrate_rate: what other sizes let expect is tried first, and one reading is then enough") {
    std::vector<double> tried;
    const auto rate = calibrate_rate(
        [&](MessagesPerSecond each, const std::string&) -> tl::expected<CalibrationReading, Error> {
            tried.push_back(each.value);
            return CalibrationReading{.busy = each.value * 10 / 20'000};
        },
        MessagesPerSecond{320});
    REQUIRE(rate);
    // 50 × 320 msg/s would be 80 % busy, so ten producers at 800 are half of that.
    CHECK(tried == std::vector<double>{800});
    CHECK(rate->value == 320);
}

TEST_CASE("calibrate_rate: an expectation that was wrong is worked off like any other reading") {
    for (const double factor : {0.02, 30.0}) {
        CAPTURE(factor);
        int steps = 0;
        const auto rate = calibrate_rate(
            [&](MessagesPerSecond each, const std::string&) -> tl::expected<CalibrationReading, Error> {
                ++steps;
                return CalibrationReading{.busy = std::min(1.0, each.value * 10 / 20'000)};
            },
            MessagesPerSecond{320 * factor});
        REQUIRE(rate);
        CHECK(rate->value == doctest::Approx(320).epsilon(0.05));
        CHECK(steps <= 5);
    }
}

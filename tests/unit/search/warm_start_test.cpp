#include "search/warm_start.hpp"

#include <doctest/doctest.h>

using namespace brink;

namespace {

/// A point of a cluster that needs 100 µs a message and 10 ns a byte.
FinishedPoint point_of(std::int64_t bytes, double width = 0.05) {
    const double rate = 1 / (100e-6 + 10e-9 * static_cast<double>(bytes));
    return {{bytes}, {rate * (1 - width / 2)}, {rate * (1 + width / 2)}};
}

}  // namespace

TEST_CASE("fit_cost: two points give the line that predicts the others") {
    const auto cost = fit_cost({point_of(100), point_of(10'000)});
    REQUIRE(cost);
    CHECK(cost->rate({1'000}).value == doctest::Approx(1 / 110e-6).epsilon(0.01));
    CHECK(cost->rate({100'000}).value == doctest::Approx(1 / 1'100e-6).epsilon(0.01));
}

TEST_CASE("fit_cost: one point is taken as cost per message") {
    const auto cost = fit_cost({point_of(100)});
    REQUIRE(cost);
    CHECK(cost->per_byte == 0);
    CHECK(cost->rate({1'000}).value == doctest::Approx(1 / 101e-6).epsilon(0.01));
}

TEST_CASE("fit_cost: no cost is negative, and nothing comes of nothing") {
    // Larger messages that go faster would need a negative cost per byte.
    const auto faster = fit_cost({{{100}, {1'000}, {1'050}}, {{10'000}, {2'000}, {2'100}}});
    REQUIRE(faster);
    CHECK(faster->per_byte == 0);
    // And purely by bytes, the line through both would start below zero.
    const auto steep = fit_cost({{{100}, {100'000}, {105'000}}, {{1'000}, {5'000}, {5'250}}});
    REQUIRE(steep);
    CHECK(steep->per_message == 0);
    CHECK(steep->per_byte > 0);
    CHECK_FALSE(fit_cost({}));
    CHECK_FALSE(fit_cost({{{100}, {0}, {0}}}));
    CHECK(fit_cost({point_of(100), point_of(100)})->per_byte == 0);
}

TEST_CASE("off_curve: marks a point far from what the others let expect") {
    const std::vector<FinishedPoint> others{point_of(100), point_of(1'000), point_of(100'000)};
    CHECK_FALSE(off_curve(point_of(10'000), others));
    auto odd = point_of(10'000);
    odd.lower.value /= 2;
    odd.upper.value /= 2;
    CHECK(off_curve(odd, others));
    CHECK_FALSE(off_curve(odd, {point_of(100)}));
}

#include "deploy/sim/shape_memory.hpp"

#include <doctest/doctest.h>

using namespace brink::sim;

namespace {

/// A second of messages of `payload` bytes in batches of `each`.
ShapeMemory::Second second_of(double payload, double each, double busiest) {
    constexpr double kMessages = 1'000;
    return {.requests = kMessages / each,
            .batches = kMessages / each,
            .messages = kMessages,
            .bytes = kMessages * (payload + 10 + 61 / each),
            .busiest = busiest};
}

}  // namespace

TEST_CASE("ShapeMemory: tells the shape of the size that is asked for") {
    ShapeMemory memory;
    memory.remember(second_of(100, 20, 0.7));
    memory.remember(second_of(1'000, 5, 0.7));
    const auto shape = memory.of(1'000);
    REQUIRE(shape);
    CHECK(shape->requests_per_message == doctest::Approx(0.2));
    CHECK(shape->bytes_per_message == doctest::Approx(1'000 + 10 + 61 / 5.0));
    CHECK(memory.of(100)->requests_per_message == doctest::Approx(0.05));
    CHECK_FALSE(memory.of(10'000));
    CHECK_FALSE(memory.of(500));
}

TEST_CASE("ShapeMemory: keeps the second nearest to the boundary") {
    ShapeMemory memory;
    memory.remember(second_of(100, 2, 0.1));
    memory.remember(second_of(100, 8, 0.79));
    memory.remember(second_of(100, 30, 1.0));
    memory.remember(second_of(100, 4, 0.5));
    CHECK(memory.of(100)->requests_per_message == doctest::Approx(1 / 8.0));
}

TEST_CASE("ShapeMemory: a handful of messages says nothing") {
    ShapeMemory memory;
    memory.remember({.requests = 3, .batches = 3, .messages = 3, .bytes = 500, .busiest = 0.8});
    memory.remember({});
    CHECK_FALSE(memory.of(100));
}

#include "tests/bench/search_world.hpp"

#include <doctest/doctest.h>

#include "tests/bench/search_bench.hpp"

using namespace brink;
using namespace brink::bench;

TEST_CASE("SearchWorld: without noise a load is overloaded above the boundary, and only there") {
    for (const auto shape : all_shapes()) {
        if (shape == Shape::drift || shape == Shape::false_verdicts) continue;
        CAPTURE(to_string(shape));
        SearchWorld world(shape, 80.5, 0, 7);
        for (const int load : {10, 40, 79, 80}) CHECK(world.trial({load}).verdict == VerdictKind::sustained);
        for (const int load : {81, 90, 200}) CHECK(world.trial({load}).verdict == VerdictKind::overloaded);
    }
}

TEST_CASE("SearchWorld: drift lowers the boundary by a tenth in 20 trials") {
    SearchWorld world(Shape::drift, 100, 0, 7);
    for (int i = 0; i < 20; ++i) world.trial({50});
    CHECK(world.boundary() == doctest::Approx(90));
}

TEST_CASE("SearchWorld: two in a hundred verdicts are false where they are meant to be") {
    SearchWorld world(Shape::false_verdicts, 100, 0, 7);
    int wrong = 0;
    for (int i = 0; i < 10'000; ++i) wrong += world.trial({50}).verdict == VerdictKind::overloaded ? 1 : 0;
    CHECK(wrong > 150);
    CHECK(wrong < 250);
}

TEST_CASE("run_search: counts trials and measures the error of an honest search") {
    const auto row = run_search("bisection", Shape::linear, 0, 200);
    CHECK(row.mean_trials > 5);
    CHECK(row.mean_trials < 7);
    CHECK(row.max_trials <= 9);
    CHECK(row.rms_error < 0.03);
    CHECK(row.coverage == 1);
    CHECK_THROWS(run_search("no such strategy", Shape::linear, 0, 1));
}

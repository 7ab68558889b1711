#include "agents/worker/latency_histogram.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>

using namespace brink::worker;
using brink::protocol::HistogramCounts;

TEST_CASE("bucket_of: agrees with the definition by logarithms") {
    std::uint64_t wrong = 0;
    for (std::uint64_t us = 1; us < 3'000'000; us += us < 10'000 ? 1 : 97) {
        const auto i = static_cast<double>(bucket_of(us));
        const auto value = static_cast<double>(us);
        if (std::exp2(i / 8) > value * (1 + 1e-12) || value >= std::exp2((i + 1) / 8) * (1 + 1e-12)) ++wrong;
    }
    CHECK(wrong == 0);
    for (int octave = 0; octave < kOctaves; ++octave)
        CHECK(bucket_of(std::uint64_t{1} << octave) == std::size_t(octave) * 8);
}

TEST_CASE("bucket_of: zero counts as one, and huge values saturate") {
    CHECK(bucket_of(0) == 0);
    CHECK(bucket_of(1) == 0);
    CHECK(bucket_of((std::uint64_t{1} << 27) - 1) == kBuckets - 1);
    CHECK(bucket_of(std::uint64_t{1} << 27) == kBuckets - 1);
    CHECK(bucket_of(std::numeric_limits<std::uint64_t>::max()) == kBuckets - 1);
}

TEST_CASE("LatencyHistogram: adds up and grows only to the last bucket in use") {
    const auto one = std::make_unique<LatencyHistogram>();
    const auto other = std::make_unique<LatencyHistogram>();
    one->add(1'000);
    one->add(1'000);
    other->add(2'000);
    HistogramCounts sum;
    one->add_to(sum);
    CHECK(sum.counts.size() == bucket_of(1'000) + 1);
    other->add_to(sum);
    CHECK(sum.counts.size() == bucket_of(2'000) + 1);
    one->add_to(sum);
    CHECK(sum.counts[bucket_of(1'000)] == 4);
    CHECK(sum.counts[bucket_of(2'000)] == 1);
}

TEST_CASE("quantile_us: upper edge of the bucket that holds it") {
    const auto histogram = std::make_unique<LatencyHistogram>();
    for (int i = 0; i < 99; ++i) histogram->add(100);
    histogram->add(100'000);
    HistogramCounts counts;
    CHECK(quantile_us(counts, 0.5) == 0);
    histogram->add_to(counts);
    CHECK(quantile_us(counts, 0.5) == doctest::Approx(100).epsilon(0.1));
    CHECK(quantile_us(counts, 0.99) == doctest::Approx(100).epsilon(0.1));
    CHECK(quantile_us(counts, 1) == doctest::Approx(100'000).epsilon(0.1));
}

#include "agents/worker/payload_pool.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

using namespace brink::worker;
using brink::protocol::PayloadKind;

TEST_CASE("PayloadPool: random bytes are the same in every run and near eight bits each") {
    const PayloadPool one(PayloadKind::random, 1'000);
    const PayloadPool other(PayloadKind::random, 1'000);
    auto a = one.cursor(3);
    auto b = other.cursor(3);
    CHECK(std::ranges::equal(one.next(a), other.next(b)));

    std::array<double, 256> count{};
    double total = 0;
    for (int i = 0; i < 1'000; ++i)
        for (const char c : one.next(a)) {
            ++count[static_cast<unsigned char>(c)];
            ++total;
        }
    double entropy = 0;
    for (const double n : count)
        if (n > 0) entropy -= n / total * std::log2(n / total);
    CHECK(entropy > 7.99);
}

TEST_CASE("PayloadPool: slices have the size asked for and stay inside, whatever the size") {
    for (const std::size_t bytes : {1UL, 7UL, 100UL, 1'000'000UL, 16'777'216UL, 16'777'217UL, 40'000'000UL}) {
        CAPTURE(bytes);
        const PayloadPool pool(PayloadKind::random, bytes);
        auto cursor = pool.cursor(5);
        auto first = pool.cursor(0);
        const char* begin = pool.next(first).data();
        for (int i = 0; i < 2'000; ++i) {
            const auto slice = pool.next(cursor);
            REQUIRE(slice.size() == bytes);
            REQUIRE(slice.data() >= begin);
            REQUIRE(slice.data() + slice.size() <= begin + pool.bytes());
        }
    }
}

TEST_CASE("PayloadPool: a batch of messages repeats nothing") {
    const PayloadPool pool(PayloadKind::random, 100);
    auto cursor = pool.cursor(1);
    std::set<const char*> seen;
    for (int i = 0; i < 10'000; ++i) CHECK(seen.insert(pool.next(cursor).data()).second);
}

TEST_CASE("PayloadPool: a single character is that, and no larger than a message") {
    const PayloadPool pool(PayloadKind::single_character, 5'000);
    CHECK(pool.bytes() == 5'000);
    auto cursor = pool.cursor(9);
    for (int i = 0; i < 3; ++i) {
        const auto slice = pool.next(cursor);
        CHECK(slice.size() == 5'000);
        CHECK(std::ranges::all_of(slice, [](char c) { return c == 'x'; }));
    }
}

#include "agents/worker/pacer.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

using brink::worker::Pacer;

namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

/// Sends all it may at `elapsed`; returns how many that were.
std::uint64_t send_all(Pacer& pacer, std::int64_t elapsed) {
    const auto step = pacer.advance(elapsed);
    pacer.sent(step.sendable);
    return step.sendable;
}

}  // namespace

TEST_CASE("Pacer: a million messages are due exactly when the arithmetic says") {
    for (const double rate : {0.4, 7.3, 1e5}) {
        CAPTURE(rate);
        const Pacer pacer(rate, 0.25);
        for (const std::uint64_t j : {0ULL, 1ULL, 2ULL, 999ULL, 123'456ULL, 999'999ULL, 1'000'000ULL}) {
            const long double exact =
                (static_cast<long double>(j) + 0.25L) / static_cast<long double>(rate) * 1e9L;
            CHECK(std::abs(static_cast<long double>(pacer.due_ns(j)) - exact) <= 2.0L);
        }
    }
}

TEST_CASE("Pacer: due_by and due_ns agree at every message of a million") {
    for (const double rate : {0.4, 7.3, 1e5}) {
        CAPTURE(rate);
        const Pacer pacer(rate, 1.0 / 3);
        std::uint64_t wrong = 0;
        for (std::uint64_t j = 0; j < 1'000'000; ++j) {
            const auto due = pacer.due_ns(j);
            if (pacer.due_by(due) != j + 1 || pacer.due_by(due - 1) != j) ++wrong;
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("Pacer: ticks of any kind send each message once, and none early") {
    for (const double rate : {0.4, 7.3, 333.3, 2e4}) {
        CAPTURE(rate);
        Pacer pacer(rate, 0.5);
        std::uint64_t sent = 0;
        for (std::int64_t at = 0; at <= 30 * kSecond; at += kMs) {
            sent += send_all(pacer, at);
            REQUIRE(sent == pacer.due_by(at));
        }
        CHECK(sent == pacer.due_by(30 * kSecond));
        CHECK(std::abs(static_cast<double>(sent) - 30 * rate) <= 1);
    }
}

TEST_CASE("Pacer: nothing is due before the start") {
    Pacer pacer(1'000, 0);
    CHECK(pacer.advance(-kSecond).sendable == 0);
    CHECK(pacer.due_by(-1) == 0);
    CHECK(pacer.due_by(0) == 1);
}

TEST_CASE("Pacer: a short stall is made up without loss, at no more than 1.1 times the rate") {
    Pacer pacer(10'000, 0);
    std::uint64_t sent = 0;
    for (std::int64_t at = 0; at <= kSecond; at += kMs) sent += send_all(pacer, at);
    const auto before = sent;
    const std::int64_t resumed = kSecond + kSecond / 2;
    for (std::int64_t at = resumed; at < resumed + kSecond; at += kMs) {
        const auto step = pacer.advance(at);
        REQUIRE(step.given_up_from == step.next);
        pacer.sent(step.sendable);
        sent += step.sendable;
    }
    CHECK(sent - before >= 10'900);
    CHECK(sent - before <= 11'200);
    for (std::int64_t at = resumed + kSecond; at < resumed + 7 * kSecond; at += kMs)
        sent += send_all(pacer, at);
    CHECK(sent == pacer.due());
}

TEST_CASE("Pacer: what is older than a second after a long stall is given up, and only that") {
    Pacer pacer(1'000, 0);
    for (std::int64_t at = 0; at <= kSecond; at += kMs) send_all(pacer, at);
    CHECK(pacer.next() == 1'001);
    const auto step = pacer.advance(6 * kSecond);
    CHECK(step.given_up_from == 1'001);
    CHECK(step.next == 5'000);  // due at exactly five seconds: one second old, not older
    CHECK(step.due == 6'001);
    CHECK(step.sendable <= 40);
}

TEST_CASE("Pacer: any second of wall time holds at most 1.1 times the rate, whatever the stalls") {
    Pacer pacer(5'000, 0);
    std::vector<std::uint64_t> by_ms(20'000, 0);
    for (std::size_t ms = 0; ms < by_ms.size(); ++ms) {
        if (ms % 1'700 > 1'000) continue;  // stalls of 0.7 s, again and again
        by_ms[ms] = send_all(pacer, static_cast<std::int64_t>(ms) * kMs);
    }
    std::uint64_t window = 0;
    std::uint64_t worst = 0;
    for (std::size_t ms = 0; ms < by_ms.size(); ++ms) {
        window += by_ms[ms];
        if (ms >= 1'000) window -= by_ms[ms - 1'000];
        worst = std::max(worst, window);
    }
    CHECK(worst <= 5'000 * 1.112);
}

TEST_CASE("Pacer: wake-ups that are late again and again lose nothing") {
    Pacer pacer(1'200, 0);
    std::uint64_t sent = 0;
    std::int64_t at = 0;
    while (at < 60 * kSecond) {
        sent += send_all(pacer, at);
        at += 30 * kMs;
    }
    CHECK(pacer.due() - sent <= 50);
}

TEST_CASE("Pacer: a message that could not be sent stays first in line") {
    Pacer pacer(1'000, 0);
    pacer.advance(10 * kMs);
    pacer.sent(3);
    const auto step = pacer.advance(11 * kMs);
    CHECK(step.next == 3);
    CHECK(step.due == 12);
    CHECK_THROWS(pacer.sent(10));
}

TEST_CASE("Pacer: producers of one trial are spread evenly over the interval") {
    constexpr int kTotal = 40;
    std::vector<std::int64_t> first;
    first.reserve(kTotal);
    for (int i = 0; i < kTotal; ++i) first.push_back(Pacer(2.5, static_cast<double>(i) / kTotal).due_ns(0));
    for (int i = 0; i < kTotal; ++i) CHECK(std::abs(first[i] - i * (400 * kMs / kTotal)) <= 1);
}

TEST_CASE("Pacer: refuses what is no rate or phase") {
    CHECK_THROWS(Pacer(0, 0));
    CHECK_THROWS(Pacer(std::nan(""), 0));
    CHECK_THROWS(Pacer(1, 1));
    CHECK_THROWS(Pacer(1, -0.1));
}

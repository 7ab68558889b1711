#include "search/steadiness.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace brink;

namespace {

/// One value a second from 0 on.
template <class ValueAt>
std::vector<TimedValue> series(int seconds, ValueAt value_at) {
    std::vector<TimedValue> values;
    for (int s = 0; s < seconds; ++s) values.push_back({static_cast<double>(s), value_at(s)});
    return values;
}

/// Three brokers scraped each second for 60 s, with an idle and a follower lag that move in a straight line.
TrialWindow moving(double idle_from, double idle_to, double lag_per_s = 0) {
    TrialWindow window{.from_s = 0, .to_s = 60, .brokers = {}, .agents = {}};
    window.partitions = 30;
    for (int id = 1; id <= 3; ++id) {
        BrokerWindow broker{.broker_id = id, .samples = {}};
        double idle_ns = 5e12;
        for (int s = 0; s <= 60; ++s) {
            BrokerSample sample{.at_s = static_cast<double>(s)};
            if (s > 0) idle_ns += 1e9 * (idle_from + (idle_to - idle_from) * (s - 0.5) / 60);
            sample.idle_ns = idle_ns;
            sample.under_replicated = 0;
            sample.messages_in = 1e3 * s;
            sample.bytes_in = 1e6 * s;
            sample.max_lag = 50 + lag_per_s * s;
            broker.samples.push_back(sample);
        }
        window.brokers.push_back(broker);
    }
    window.agents = {{.agent = "a", .scheduled = 180'000, .acked = 180'000, .producer_s = 600}};
    return window;
}

const std::vector<RestReading> kRest{
    {.broker_id = 1, .idle = 0.99}, {.broker_id = 2, .idle = 0.98}, {.broker_id = 3, .idle = 1.0}};

bool contains(const std::vector<std::string>& list, const std::string& part) {
    for (const auto& text : list) {
        if (text.find(part) != std::string::npos) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("trend_of: a straight line is found with its slope, a level is none") {
    const auto line = trend_of(series(120, [](int s) { return 10 + 0.5 * s; }));
    REQUIRE(line);
    CHECK(line->certain);
    CHECK(line->slope == doctest::Approx(0.5));
    CHECK(line->rise == doctest::Approx(59.5));
    CHECK_FALSE(trend_of(series(120, [](int) { return 7.0; }))->certain);
    CHECK_FALSE(trend_of(series(120, [](int s) { return s % 2 ? 7.0 : 8.0; }))->certain);
    CHECK_FALSE(trend_of(series(5, [](int s) { return 1.0 * s; })));
    CHECK_FALSE(trend_of({}));
    // Six values can only be certain when each is above the one before.
    CHECK(trend_of(series(6, [](int s) { return 1.0 * s; }))->certain);
    CHECK_FALSE(trend_of(series(6, [](int s) { return s == 4 ? 2.5 : 1.0 * s; }))->certain);
}

TEST_CASE("trend_of: one outlier neither makes nor hides a trend") {
    const auto spike = trend_of(series(60, [](int s) { return s == 55 ? 5e3 : 10 + (s % 3); }));
    CHECK_FALSE(spike->certain);
    const auto hidden = trend_of(series(60, [](int s) { return s == 5 ? 500.0 : 2.0 * s; }));
    CHECK(hidden->certain);
}

TEST_CASE(
    "trend_of: noise that depends on its neighbours is called a trend about as seldom as the test says") {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    int called = 0;
    for (int trial = 0; trial < 2'000; ++trial) {
        double level = normal(random);
        const auto trend = trend_of(series(120, [&](int) {
            level = 0.5 * level + normal(random);  // lag-1 correlation 0.5
            return level;
        }));
        called += trend->certain ? 1 : 0;
    }
    CHECK(called > 2);   // a test that never fires finds nothing either
    CHECK(called < 60);  // α = 0.01, twice as often is still right for correlated values; 3 % is not
}

TEST_CASE(
    "judge: messages that wait longer and longer are not sustained, and need evidence like a shortfall") {
    auto window = moving(0.6, 0.6);
    window.waits_ms = series(60, [](int s) { return 20.0 + 10.0 * s; });  // 1 % is not absorbed
    auto verdict = judge(window, kRest, {});
    CHECK(verdict.kind == VerdictKind::invalid);
    CHECK(verdict.published == VerdictKind::sustained);
    CHECK(contains(verdict.flags, "not_steady"));
    CHECK(contains(verdict.reasons,
                   "unexplained: messages waited 590 ms longer at the end of the window than at its "
                   "beginning: 1.0 % of the load was not absorbed, though the agents had room"));

    SUBCASE("a broker that answers for it is overloaded") {
        for (auto& s : window.brokers[1].samples) {
            s.produce_requests = 10 * s.at_s;
            s.produce_ms = 7e3 * s.at_s;  // of 10 producers' time 70 %
        }
        verdict = judge(window, kRest, {});
        CHECK(verdict.kind == VerdictKind::overloaded);
        CHECK(verdict.limited_by == "delivery");
        CHECK(contains(verdict.reasons, "broker 2 had their requests in hand for 70.0 %"));
    }
    SUBCASE("an agent short of something is to blame") {
        window.agents[0].saturation = {"uses 97 % of the CPU it may use"};
        verdict = judge(window, kRest, {});
        CHECK(verdict.kind == VerdictKind::generator_limited);
    }
    SUBCASE("less than what a shortfall may be is steady") {
        window.waits_ms = series(60, [](int s) { return 20.0 + 4.9 * s; });
        CHECK(judge(window, kRest, {}).kind == VerdictKind::sustained);
    }
    SUBCASE("a rise of no account is steady, however certain") {
        for (auto& wait : window.waits_ms) wait.value /= 7;
        window.waits_ms.resize(12);
        CHECK(judge(window, kRest, {}).kind == VerdictKind::sustained);
    }
    SUBCASE("falling is steady") {
        window.waits_ms = series(60, [](int s) { return 900.0 - 10.0 * s; });
        CHECK(judge(window, kRest, {}).kind == VerdictKind::sustained);
    }
}

TEST_CASE(
    "judge: idle that falls below the threshold at the window's end is not steady, however good its mean") {
    const auto verdict = judge(moving(0.45, 0.10), kRest, {});
    CHECK(verdict.kind == VerdictKind::invalid);
    CHECK(verdict.published == VerdictKind::sustained);
    CHECK(contains(verdict.flags, "not_steady"));
    CHECK(contains(verdict.reasons, "not steady: the idle of broker 1 fell through the window, to 10."));
    CHECK(judge(moving(0.60, 0.30), kRest, {}).kind ==
          VerdictKind::sustained);  // falls, and stays well above
    CHECK(judge(moving(0.10, 0.45), kRest, {}).kind == VerdictKind::sustained);   // rises
    CHECK(judge(moving(0.30, 0.05), kRest, {}).kind == VerdictKind::overloaded);  // by its mean
}

TEST_CASE("judge: a follower that lags more and more is not steady") {
    // 3,000 messages/s on 30 partitions: 100 each.
    const auto verdict = judge(moving(0.6, 0.6, 10), kRest, {});
    CHECK(verdict.kind == VerdictKind::invalid);
    CHECK(contains(verdict.reasons,
                   "not steady: a partition that broker 1 follows fell behind by 10 messages/s"));
    CHECK(judge(moving(0.6, 0.6, 2), kRest, {}).kind == VerdictKind::sustained);  // 1.2 s of it in a minute
    CHECK(judge(moving(0.6, 0.6, -0.5), kRest, {}).kind == VerdictKind::sustained);
}

#include "search/window_faults.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>

using namespace brink;

namespace {

constexpr int kSeconds = 60;

/// A healthy broker scraped every 5 s over a minute.
BrokerWindow healthy(int id, double idle = 0.6) {
    BrokerWindow window{.broker_id = id, .samples = {}};
    for (int s = 0; s <= kSeconds; s += 5) {
        window.samples.push_back({.at_s = 100.0 + s,
                                  .at_unix_s = 1.7e9 + s,
                                  .idle_ns = 5e12 + idle * 1e9 * s,
                                  .isr_shrinks = 4,
                                  .isr_expands = 4,
                                  .under_replicated = 0,
                                  .bytes_in = 7e9 + 2e6 * s,
                                  .messages_in = 7e6 + 2e3 * s,
                                  .process_start_s = 1.6e9});
    }
    return window;
}

TrialWindow minute() {
    TrialWindow window;
    window.from_s = 100;
    window.to_s = 100 + kSeconds;
    window.brokers = {healthy(1), healthy(2), healthy(3)};
    window.agents = {{.agent = "load-1", .scheduled = 1000, .acked = 1000}};
    window.scrape_interval_s = 5;
    window.leaders_equal = true;
    return window;
}

/// Multiplies what came in at a broker.
void scale_traffic(BrokerWindow& broker, double factor) {
    for (auto& s : broker.samples) *s.bytes_in = 7e9 + (*s.bytes_in - 7e9) * factor;
}
void set_idle(BrokerWindow& broker, double idle) {
    for (auto& s : broker.samples) *s.idle_ns = 5e12 + idle * 1e9 * (s.at_s - 100);
}
/// Changes every sample of broker 2 from the sixth on.
void from_the_sixth(TrialWindow& window, const std::function<void(BrokerSample&)>& change) {
    auto& samples = window.brokers[1].samples;
    for (std::size_t i = 6; i < samples.size(); ++i) change(samples[i]);
}

struct Case {
    const char* name;
    std::function<void(TrialWindow&)> happens;
    const char* reason;  ///< what the first and only reason must say
};

const std::vector<Case> kVoid{
    {"broker restart, by its start time",
     [](TrialWindow& w) { from_the_sixth(w, [](BrokerSample& s) { s.process_start_s = 1.7e9; }); },
     "broker 2 restarted during the window"},
    {"broker restart, with counters that begin anew",
     [](TrialWindow& w) {
         from_the_sixth(
             w, [](BrokerSample& s) { s.process_start_s = 1.7e9, *s.idle_ns -= 5e12, *s.bytes_in -= 7e9; });
     },
     "broker 2 restarted during the window"},
    {"broker restart, where no start time is exported",
     [](TrialWindow& w) {
         for (auto& s : w.brokers[1].samples) s.process_start_s.reset();
         from_the_sixth(w, [](BrokerSample& s) { *s.idle_ns -= 5e12; });
     },
     "the idle counter of broker 2 went back from 5015000000000 to 18000000000 during the window: the broker "
     "restarted"},
    {"counter reset", [](TrialWindow& w) { from_the_sixth(w, [](BrokerSample& s) { s.isr_shrinks = 0; }); },
     "the ISR shrink counter of broker 2 went back from 4 to 0"},
    {"scrape gap, though the missing share is small",
     [](TrialWindow& w) {
         auto& samples = w.brokers[1].samples;
         w.brokers[1].last_error = "timed out";
         samples.erase(samples.begin() + 4, samples.begin() + 6);
     },
     "scrapes of broker 2 are missing for 15.0 s in one piece (limit 12.5 s), the last because: timed out"},
    {"scrape gap at the end", [](TrialWindow& w) { w.brokers[0].samples.resize(10); },
     "scrapes of broker 1 are missing for 15.0 s in one piece"},
    {"wall clock set",
     [](TrialWindow& w) { from_the_sixth(w, [](BrokerSample& s) { *s.at_unix_s += 3.2; }); },
     "the controller's clock jumped by +3.2 s between two scrapes of broker 2"},
    {"monotonic time goes back",
     [](TrialWindow& w) { from_the_sixth(w, [](BrokerSample& s) { s.at_s -= 10; }); },
     "the scrapes of broker 2 go back in time by 5.0 s"},
    {"lost agent", [](TrialWindow& w) { w.agents[0].lost = true; }, "agent load-1 was lost during the trial"},
    {"message-size limit",
     [](TrialWindow& w) { w.agents[0].error_codes = {"_MSG_TIMED_OUT", "MSG_SIZE_TOO_LARGE"}; },
     "messages of this size are refused (MSG_SIZE_TOO_LARGE on agent load-1)"},
    {"not enough replicas", [](TrialWindow& w) { w.agents[0].error_codes = {"NOT_ENOUGH_REPLICAS"}; },
     "fewer replicas in sync than min.insync.replicas asks for (NOT_ENOUGH_REPLICAS on agent load-1)"},
    {"not enough replicas after the append",
     [](TrialWindow& w) { w.agents[0].error_codes = {"NOT_ENOUGH_REPLICAS_AFTER_APPEND"}; },
     "NOT_ENOUGH_REPLICAS_AFTER_APPEND"},
    {"skewed partitions", [](TrialWindow& w) { scale_traffic(w.brokers[2], 1.6); },
     "the load is skewed: broker 3 takes 1.6 times the bytes of the median broker"},
    {"skewed partitions that overload their broker",
     [](TrialWindow& w) { scale_traffic(w.brokers[2], 4), set_idle(w.brokers[2], 0.05); },
     "the load is skewed: broker 3 takes 4.0 times"},
};

}  // namespace

TEST_CASE("judge: whatever voids a window is named by a reason of its own") {
    REQUIRE(judge(minute(), {}, {}).kind == VerdictKind::sustained);
    for (const auto& c : kVoid) {
        CAPTURE(c.name);
        auto window = minute();
        c.happens(window);
        const auto verdict = judge(window, {}, {.min_scrapes = 8});
        CHECK(verdict.kind == VerdictKind::invalid);
        CHECK(verdict.limited_by.empty());
        REQUIRE(verdict.reasons.size() == 1);
        CAPTURE(verdict.reasons.front());
        CHECK(verdict.reasons.front().find(c.reason) != std::string::npos);
    }
}

TEST_CASE(
    "judge: the broker that something happened to is named before those that lack scrapes because of it") {
    auto restarted = minute();
    from_the_sixth(restarted, [](BrokerSample& s) { s.process_start_s = 1.7e9; });
    auto hanging = minute();
    hanging.brokers[1].samples.resize(5);
    hanging.brokers[1].missed = 3;
    for (auto* window : {&restarted, &hanging}) {
        for (int i : {0, 2}) {
            auto& samples = window->brokers[i].samples;
            samples.erase(samples.begin() + 4, samples.begin() + 9);
        }
        const auto reasons = judge(*window, {}, {}).reasons;
        REQUIRE(reasons.size() == 3);
        CHECK(reasons[0].find("broker 2") != std::string::npos);
    }
}

TEST_CASE("judge: a size that is refused is flagged, so that it is not tried again") {
    auto window = minute();
    window.agents[0].error_codes = {"MSG_SIZE_TOO_LARGE"};
    const auto flags = judge(window, {}, {}).flags;
    CHECK(std::find(flags.begin(), flags.end(), kMessageTooLarge) != flags.end());
}

TEST_CASE("judge: an overload explains replicas that are missing, and brokers that take less") {
    auto starved = minute();
    starved.agents[0].error_codes = {"NOT_ENOUGH_REPLICAS"};
    set_idle(starved.brokers[0], 0.05);
    CHECK(judge(starved, {}, {}).kind == VerdictKind::overloaded);
    // Two brokers that cannot keep up take half; the third, which can, is not skewed.
    auto slower = minute();
    for (int i : {0, 1}) scale_traffic(slower.brokers[i], 0.5), set_idle(slower.brokers[i], 0.02);
    CHECK(judge(slower, {}, {}).kind == VerdictKind::overloaded);
}

TEST_CASE("judge: small differences, few messages or unequal leaders are no skew") {
    auto close = minute();
    scale_traffic(close.brokers[2], 1.4);
    CHECK(judge(close, {}, {}).kind == VerdictKind::sustained);
    auto unequal = minute();
    unequal.leaders_equal = false;
    scale_traffic(unequal.brokers[2], 3);
    CHECK(judge(unequal, {}, {}).kind == VerdictKind::sustained);
    auto little = minute();
    for (auto& broker : little.brokers) scale_traffic(broker, 0.05);
    scale_traffic(little.brokers[2], 3);
    CHECK(judge(little, {}, {}).kind == VerdictKind::sustained);
}

TEST_CASE("judge: one slow broker is named beside the verdict, and does not change it") {
    const auto flagged = [](double worst, double others) {
        auto window = minute();
        set_idle(window.brokers[0], others);
        set_idle(window.brokers[1], worst);
        set_idle(window.brokers[2], others);
        const auto verdict = judge(window, {}, {});
        CHECK(verdict.kind == VerdictKind::overloaded);
        const bool named = verdict.reasons.back().find("only broker 2 is short of idle time") == 0;
        const bool flag =
            std::find(verdict.flags.begin(), verdict.flags.end(), "one_slow_broker") != verdict.flags.end();
        CHECK(named == flag);
        return flag;
    };
    CHECK(flagged(0.10, 0.80));
    CHECK_FALSE(flagged(0.10, 0.35));
}

TEST_CASE("judge: scrapes that all take long have no holes, and short ones are none") {
    auto slow = minute();
    slow.scrape_interval_s = 1;  // asked for; the exporter needs 5 s
    CHECK(judge(slow, {}, {}).kind == VerdictKind::sustained);
    auto brief = minute();
    brief.scrape_interval_s = 0.5;
    for (auto& broker : brief.brokers) {
        broker.samples.clear();
        for (int i = 0; i <= 120; ++i) {
            if (i < 40 || i > 48)
                broker.samples.push_back(
                    {.at_s = 100 + i * 0.5, .idle_ns = 5e12 + 3e8 * i, .isr_shrinks = 0});
        }
    }
    CHECK(judge(brief, {}, {}).kind == VerdictKind::sustained);  // 5 s
}

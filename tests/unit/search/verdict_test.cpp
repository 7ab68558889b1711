#include "search/verdict.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace brink;

namespace {

/// A broker scraped once a second over [0, seconds] with a steady idle.
BrokerWindow steady(int id, double idle, int seconds = 20) {
    BrokerWindow window{.broker_id = id, .samples = {}};
    for (int s = 0; s <= seconds; ++s) {
        BrokerSample sample;
        sample.at_s = s;
        sample.idle_ns = 5e12 + idle * 1e9 * s;
        sample.isr_shrinks = 4;
        sample.isr_expands = 4;
        sample.under_replicated = 0;
        sample.bytes_in = 1e6 * s;
        sample.messages_in = 1e3 * s;
        sample.process_start_s = 1000;
        window.samples.push_back(sample);
    }
    return window;
}

TrialWindow window_of(std::vector<BrokerWindow> brokers) {
    TrialWindow window;
    window.from_s = 0;
    window.to_s = 20;
    window.brokers = std::move(brokers);
    window.agents = {{.agent = "a", .scheduled = 1000, .acked = 1000},
                     {.agent = "b", .scheduled = 1000, .acked = 1000}};
    return window;
}

const std::vector<RestReading> kRest{
    {.broker_id = 1, .idle = 0.99}, {.broker_id = 2, .idle = 0.98}, {.broker_id = 3, .idle = 1.0}};

}  // namespace

TEST_CASE("judge: the worst broker decides by default") {
    auto verdict = judge(window_of({steady(1, 0.9), steady(2, 0.19), steady(3, 0.8)}), kRest, {});
    CHECK(verdict.kind == VerdictKind::overloaded);
    CHECK(verdict.published == VerdictKind::overloaded);
    CHECK(verdict.limited_by == "io_idle");
    CHECK(*verdict.worst_idle == doctest::Approx(0.19));
    CHECK(verdict.figures.front().broker_id == 2);
}

TEST_CASE("judge: the mean of all brokers decides when it is asked for") {
    JudgeRules rules;
    rules.mean_across_brokers = true;
    auto verdict = judge(window_of({steady(1, 0.9), steady(2, 0.1), steady(3, 0.8)}), kRest, rules);
    CHECK(verdict.kind == VerdictKind::sustained);
    CHECK(verdict.figures.front().value == doctest::Approx(0.6));
}

TEST_CASE("judge: idle at the threshold is not below it") {
    auto verdict = judge(window_of({steady(1, 0.2000001)}), kRest, {});
    CHECK(verdict.kind == VerdictKind::sustained);
}

TEST_CASE("judge: churn in more than half of the sub-windows overloads, in half it does not") {
    auto churning = [](int sub_windows) {
        auto broker = steady(1, 0.9);
        for (auto& s : broker.samples) {
            // one shrink in the middle of each of the first n sub-windows of 5 s
            const int done = static_cast<int>((s.at_s + 2) / 5);
            s.isr_shrinks = 4 + std::min(done, sub_windows);
        }
        return judge(window_of({broker}), kRest, {});
    };
    CHECK(churning(2).kind == VerdictKind::sustained);
    CHECK(*churning(2).isr_churn == doctest::Approx(0.5));
    CHECK(churning(3).kind == VerdictKind::overloaded);
    CHECK(churning(3).limited_by == "isr_churn");
}

TEST_CASE("judge: a follower that stays out is churn though no counter moves") {
    auto broker = steady(1, 0.9);
    for (auto& s : broker.samples) s.under_replicated = 3;
    auto verdict = judge(window_of({broker, steady(2, 0.9)}), kRest, {});
    CHECK(verdict.limited_by == "isr_churn");
    CHECK(*verdict.isr_churn == doctest::Approx(1.0));
}

TEST_CASE("judge: missing scrapes are invalid, never sustained") {
    auto broker = steady(2, 0.9);
    broker.missed = 3;
    broker.last_error = "timed out after 900 ms";
    auto verdict = judge(window_of({steady(1, 0.9), broker}), kRest, {});
    CHECK(verdict.kind == VerdictKind::invalid);
    CHECK(verdict.reasons.front().find("timed out after 900 ms") != std::string::npos);
}

TEST_CASE("judge: too few scrapes are invalid") {
    CHECK(judge(window_of({steady(1, 0.9, 8)}), kRest, {}).kind == VerdictKind::invalid);
}

TEST_CASE("judge: a silent broker is invalid even when no scrape is counted as missed") {
    CHECK(judge(window_of({steady(1, 0.9), BrokerWindow{.broker_id = 2, .samples = {}}}), kRest, {}).kind ==
          VerdictKind::invalid);
    CHECK(judge(window_of({}), kRest, {}).kind == VerdictKind::invalid);
}

TEST_CASE("judge: a restart in the window is invalid, by counter or by start time") {
    auto by_counter = steady(1, 0.9);
    for (std::size_t i = 10; i < by_counter.samples.size(); ++i) *by_counter.samples[i].idle_ns -= 5e12;
    auto by_start = steady(1, 0.9);
    for (std::size_t i = 10; i < by_start.samples.size(); ++i) by_start.samples[i].process_start_s = 2000;
    for (const auto& broker : {by_counter, by_start}) {
        auto verdict = judge(window_of({broker}), kRest, {});
        CHECK(verdict.kind == VerdictKind::invalid);
        CHECK(verdict.reasons.front().find("restart") != std::string::npos);
    }
}

TEST_CASE("judge: with two pools on one meter the controller's is subtracted, not divided by") {
    const std::vector<RestReading> rest{{.broker_id = 1, .idle = 1.98}};
    auto overloaded = judge(window_of({steady(1, 1.07)}), rest, {});
    CHECK(overloaded.kind == VerdictKind::overloaded);
    CHECK(*overloaded.worst_idle == doctest::Approx(0.09));
    CHECK(judge(window_of({steady(1, 1.5)}), rest, {}).kind == VerdictKind::sustained);
}

TEST_CASE("judge: a reading that fits neither one pool nor two is refused") {
    CHECK(judge(window_of({steady(1, 0.6)}), {{.broker_id = 1, .idle = 1.3}}, {}).kind ==
          VerdictKind::invalid);
    CHECK(judge(window_of({steady(1, 1.2)}), kRest, {}).kind == VerdictKind::invalid);
}

TEST_CASE("judge: idle a little above one is clamped") {
    auto verdict = judge(window_of({steady(1, 1.05)}), kRest, {});
    CHECK(verdict.kind == VerdictKind::sustained);
    CHECK(*verdict.worst_idle == 1.0);
}

TEST_CASE("judge: a shortfall needs evidence before the generator is blamed") {
    auto window = window_of({steady(1, 0.9)});
    window.agents[1].acked = 900;
    CHECK(judge(window, kRest, {}).kind == VerdictKind::invalid);
    CHECK(judge(window, kRest, {}).published == VerdictKind::sustained);
    window.agents[1].saturation = {"CPU at 97 %"};
    auto verdict = judge(window, kRest, {});
    CHECK(verdict.kind == VerdictKind::generator_limited);
    CHECK(verdict.limited_by == "generator");
}

TEST_CASE("judge: an overloaded broker explains a shortfall") {
    auto window = window_of({steady(1, 0.05)});
    window.agents[1].acked = 500;
    window.agents[1].saturation = {"CPU at 97 %"};
    CHECK(judge(window, kRest, {}).kind == VerdictKind::overloaded);
}

TEST_CASE("judge: what quotas hold back is overloaded, with the published verdict beside it") {
    auto window = window_of({steady(1, 0.9)});
    for (auto& agent : window.agents) {
        agent.producer_s = 400;  // 20 producers for 20 s
        agent.throttled_s = 38;
        agent.throttled_answers = 70;
        agent.longest_throttle_ms = 950;
    }
    CHECK(judge(window, kRest, {}).kind == VerdictKind::sustained);  // 9.5 % of their time
    window.agents[0].throttled_s = 90;
    window.agents[1].acked = 700;
    window.agents[1].saturation = {"its local queue was full in 300 of 1000 sends"};
    const auto verdict = judge(window, kRest, {});
    CHECK(verdict.kind == VerdictKind::overloaded);
    CHECK(verdict.published == VerdictKind::sustained);
    CHECK(verdict.limited_by == "quota");
    CHECK(verdict.reasons.front().find("16.0 %") != std::string::npos);
    CHECK(verdict.reasons.front().find("950 ms") != std::string::npos);
    const auto quota = std::find_if(verdict.figures.begin(), verdict.figures.end(),
                                    [](const auto& f) { return f.rule == "quota"; });
    CHECK(quota->value == doctest::Approx(0.16));
    CHECK(quota->fired);
}

TEST_CASE("judge: a quota comes after the published rules, and both are told") {
    auto window = window_of({steady(1, 0.05)});
    window.agents[0].producer_s = 100;
    window.agents[0].throttled_s = 80;
    const auto verdict = judge(window, kRest, {});
    CHECK(verdict.limited_by == "io_idle");
    REQUIRE(verdict.reasons.size() == 2);
    CHECK(verdict.reasons[1].find("quota") != std::string::npos);
}

TEST_CASE("judge: with its rule switched off a quota is a suspect, and never the agents' fault") {
    JudgeRules rules;
    rules.quota = false;
    auto window = window_of({steady(1, 0.9)});
    window.agents[0].producer_s = window.agents[1].producer_s = 100;
    window.agents[0].throttled_s = window.agents[1].throttled_s = 80;
    window.agents[0].throttled_answers = 70;
    CHECK(judge(window, kRest, rules).kind == VerdictKind::sustained);
    window.agents[1].acked = 700;
    window.agents[1].saturation = {"its local queue was full in 300 of 1000 sends"};
    const auto verdict = judge(window, kRest, rules);
    CHECK(verdict.kind == VerdictKind::invalid);
    CHECK(verdict.reasons.front().starts_with("unexplained"));
    CHECK(verdict.reasons.back().find("suspect: quotas of the brokers") != std::string::npos);
}

TEST_CASE("judge: network threads short of time answer for a shortfall of agents that have room") {
    auto window = window_of({steady(1, 0.9), steady(2, 0.9), steady(3, 0.9)});
    for (auto& s : window.brokers[1].samples) s.network_idle = 0.03;
    for (auto& s : window.brokers[2].samples) s.network_idle = 0.6;
    CHECK(judge(window, kRest, {}).kind == VerdictKind::sustained);  // a signal without a verdict of its own
    window.agents[1].acked = 700;
    const auto verdict = judge(window, kRest, {});
    CHECK(verdict.kind == VerdictKind::overloaded);
    CHECK(verdict.published == VerdictKind::sustained);
    CHECK(verdict.limited_by == "delivery");
    CHECK(verdict.reasons.front().find("network threads of broker 2 were idle 3.0 %") != std::string::npos);
    CHECK(*verdict.brokers[1].network_idle == doctest::Approx(0.03));
    CHECK_FALSE(verdict.brokers[0].network_idle);

    JudgeRules off;
    off.delivery = false;
    const auto unexplained = judge(window, kRest, off);
    CHECK(unexplained.kind == VerdictKind::invalid);
    CHECK(unexplained.reasons.back().starts_with("suspect: the network threads of broker 2"));

    window.agents[0].saturation = {"uses 97 % of the CPU it may use"};
    CHECK(judge(window, kRest, {}).kind == VerdictKind::generator_limited);
    window.agents[0].saturation.clear();
    window.agents[0].failed = 10;
    CHECK(judge(window, kRest, {}).kind == VerdictKind::invalid);
}

TEST_CASE("judge: a broker that has our requests in hand most of the time answers for a shortfall") {
    auto window = window_of({steady(1, 0.9), steady(2, 0.9)});
    window.agents[0].producer_s = window.agents[1].producer_s = 40;  // two producers each for 20 s
    const auto in_hand = [&](std::size_t broker, double share, double requests_per_s) {
        for (auto& s : window.brokers[broker].samples) {
            s.produce_requests = 500 + requests_per_s * s.at_s;
            s.produce_ms = 1e6 + share * 4 * 1e3 * s.at_s;
        }
    };
    in_hand(0, 0.3, 10);
    in_hand(1, 0.8, 10);
    CHECK(judge(window, kRest, {}).kind == VerdictKind::sustained);  // all was acknowledged
    window.agents[1].acked = 950;
    auto verdict = judge(window, kRest, {});
    CHECK(verdict.kind == VerdictKind::overloaded);
    CHECK(verdict.published == VerdictKind::sustained);
    CHECK(verdict.limited_by == "delivery");
    CHECK(verdict.reasons.front().find(
              "broker 2 had their requests in hand for 80.0 % of the producers' time") != std::string::npos);
    CHECK(verdict.reasons.front().find("(320 ms a request)") != std::string::npos);
    CHECK(*verdict.brokers[1].broker_time == doctest::Approx(0.8));
    CHECK(*verdict.brokers[0].produce_ms == doctest::Approx(120));
    REQUIRE(verdict.figure("broker_time") != nullptr);
    CHECK(verdict.figure("broker_time")->broker_id == 2);

    SUBCASE("the broker whose network threads stand out is a suspect: the others may only wait for it") {
        window.brokers.push_back(steady(3, 0.9));
        for (auto& s : window.brokers[0].samples) s.network_idle = 0.57;
        for (auto& s : window.brokers[1].samples) s.network_idle = 0.82;
        for (auto& s : window.brokers[2].samples) s.network_idle = 0.81;
        verdict = judge(window, kRest, {});
        CHECK(verdict.limited_by == "delivery");
        CHECK(verdict.reasons[1] == "suspect: the network threads of broker 1 were idle 57.0 % of the time");
        for (auto& s : window.brokers[0].samples) s.network_idle = 0.65;
        for (const auto& reason : judge(window, kRest, {}).reasons)
            CHECK(reason.find("network threads") == std::string::npos);
    }
    SUBCASE("not when it is in hand for half of the time or less") {
        in_hand(1, 0.5, 10);
        CHECK(judge(window, kRest, {}).kind == VerdictKind::invalid);
    }
    SUBCASE("not when an agent was short of something") {
        window.agents[0].saturation = {"uses 97 % of the CPU it may use"};
        CHECK(judge(window, kRest, {}).kind == VerdictKind::generator_limited);
    }
    SUBCASE("not when it is not known how many producers there were") {
        window.agents[0].producer_s = window.agents[1].producer_s = 0;
        verdict = judge(window, kRest, {});
        CHECK(verdict.kind == VerdictKind::invalid);
        CHECK(verdict.figure("broker_time") == nullptr);
    }
    SUBCASE("not when the rule is off") {
        JudgeRules off;
        off.delivery = false;
        CHECK(judge(window, kRest, off).kind == VerdictKind::invalid);
    }
}

TEST_CASE("judge: partitions that lack followers for longer than a follower may lag overload") {
    auto broker = steady(2, 0.9, 120);
    auto window = window_of({steady(1, 0.9, 120), broker});
    window.to_s = 120;
    const auto lacking = [&](int from, int to) {
        for (auto& s : window.brokers[1].samples) s.under_replicated = s.at_s >= from && s.at_s <= to ? 2 : 0;
        return judge(window, kRest, {});
    };
    CHECK(lacking(20, 50).kind == VerdictKind::sustained);  // 30 s, and 6 of 24 sub-windows
    const auto verdict = lacking(20, 51);
    CHECK(verdict.kind == VerdictKind::overloaded);
    CHECK(verdict.published == VerdictKind::sustained);
    CHECK(verdict.limited_by == "replication");
    CHECK(verdict.reasons.front() ==
          "partitions of broker 2 lacked followers for 31 s without a break, longer than 30 s");
    CHECK(verdict.figure("replication")->broker_id == 2);
    JudgeRules off;
    off.replication = false;
    CHECK(judge(window, kRest, off).kind == VerdictKind::sustained);
    // The stretch counts, not the sum.
    for (auto& s : window.brokers[1].samples) {
        if (s.at_s == 35) s.under_replicated = 0;
    }
    CHECK(judge(window, kRest, {}).kind == VerdictKind::sustained);
}

TEST_CASE("judge: an unexplained shortfall lists its suspects and never the IO threads or the agents") {
    auto window = window_of({steady(1, 0.9), steady(2, 0.9), steady(3, 0.9)});
    window.agents[1].acked = 700;
    auto verdict = judge(window, kRest, {});
    CHECK(verdict.kind == VerdictKind::invalid);
    CHECK(verdict.reasons.front().starts_with("unexplained: acknowledged only 85.0 %"));
    REQUIRE(verdict.reasons.size() == 2);
    CHECK(verdict.reasons[1].find("none that a signal of brink shows") != std::string::npos);

    window.agents[0].answer_ms = {{1, 12}, {2, 10}, {3, 800}};
    window.agents[1].answer_ms = {{1, 14}, {2, 12}, {3, 1000}};
    for (auto& s : window.brokers[2].samples) {
        s.network_idle = 0.4;
        *s.bytes_in /= 3;
    }
    verdict = judge(window, kRest, {});
    CHECK(verdict.kind == VerdictKind::invalid);
    REQUIRE(verdict.reasons.size() == 4);
    CHECK(verdict.reasons[1] == "suspect: the network threads of broker 3 were idle 40.0 % of the time");
    CHECK(verdict.reasons[2] == "suspect: broker 3 took 900 ms to answer, the others 13 ms");
    CHECK(verdict.reasons[3] == "suspect: broker 3 took in only 0.333 MB/s, the others 1 MB/s");
    for (const auto& reason : verdict.reasons) {
        CHECK(reason.find("request-handler") == std::string::npos);
        CHECK(reason.find("add agents") == std::string::npos);
    }
}

TEST_CASE("judge: failed deliveries are named") {
    auto window = window_of({steady(1, 0.9)});
    window.agents[0].acked = 0;
    window.agents[0].failed = 1000;
    window.agents[0].first_error = "MSG_SIZE_TOO_LARGE";
    CHECK(judge(window, kRest, {}).reasons.front().find("MSG_SIZE_TOO_LARGE") != std::string::npos);
}

TEST_CASE("judge: a lost agent or a voided trial is invalid whatever the brokers say") {
    auto window = window_of({steady(1, 0.05)});
    window.agents[0].lost = true;
    CHECK(judge(window, kRest, {}).kind == VerdictKind::invalid);
    auto voided = window_of({steady(1, 0.9)});
    voided.voided = {"cancelled"};
    CHECK(judge(voided, kRest, {}).kind == VerdictKind::invalid);
}

TEST_CASE("judge: without any ISR signal it says so") {
    auto broker = steady(1, 0.9);
    for (auto& s : broker.samples) s.isr_shrinks = s.isr_expands = s.under_replicated = std::nullopt;
    auto verdict = judge(window_of({broker}), kRest, {});
    CHECK_FALSE(verdict.isr_churn);
    CHECK(std::find(verdict.flags.begin(), verdict.flags.end(), "no_isr_signal") != verdict.flags.end());
}

TEST_CASE("idle_over: is the counter's growth over time, whatever lies between") {
    CHECK(*idle_over(steady(1, 0.37)) == doctest::Approx(0.37));
    CHECK_FALSE(idle_over(BrokerWindow{}));
    CHECK_FALSE(idle_over(BrokerWindow{.broker_id = 1, .samples = {BrokerSample{.at_s = 1, .idle_ns = 5}}}));
}

TEST_CASE("judge: network idle a little above one is a reading, and no reason to refuse the window") {
    auto broker = steady(1, 0.9);
    for (auto& sample : broker.samples) sample.network_idle = 1.03;
    const auto verdict = judge(window_of({broker}), kRest, {});
    CHECK(verdict.kind == VerdictKind::sustained);
    CHECK(verdict.brokers.front().network_idle == 1.0);
}

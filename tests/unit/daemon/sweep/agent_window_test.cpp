#include "daemon/sweep/agent_window.hpp"

#include <doctest/doctest.h>

using namespace brink;

namespace {

/// An agent whose messages of second s all wait for about 2^bucket/8 µs.
fleet::AgentReport waiting(const std::string& agent, std::size_t bucket, int seconds,
                           std::uint64_t messages) {
    protocol::TaskReport report;
    for (int s = 0; s < seconds; ++s) {
        protocol::SecondFigures second{
            .second = s, .scheduled = messages, .sent = messages, .acked = messages};
        second.latency.counts.assign(200, 0);
        second.latency.counts[bucket] = messages;
        report.seconds.push_back(second);
    }
    return {agent, report, 2};
}

fleet::AgentReport silent(const std::string& agent) {
    return {agent, tl::unexpected(Error{ErrorCode::timed_out, "no answer", {}}), 2};
}

}  // namespace

TEST_CASE("waits_between: the mean over all agents of each second, dated by its middle") {
    // Buckets 80 and 96: 1.024 ms and 4.096 ms.
    const auto waits =
        waits_between({waiting("a", 80, 10, 300), waiting("b", 96, 10, 100), silent("c")}, 3, 6, 1000);
    REQUIRE(waits.size() == 3);
    CHECK(waits[0].at_s == 1000.5);
    CHECK(waits[2].at_s == 1002.5);
    CHECK(waits[1].value == doctest::Approx((3 * 1.024 + 4.096) / 4).epsilon(0.1));
}

TEST_CASE("waits_between: a second in which nothing was acknowledged has no wait") {
    auto report = waiting("a", 80, 10, 100);
    report.report->seconds[4].latency.counts.assign(200, 0);
    const auto waits = waits_between({report}, 3, 6, 0);
    REQUIRE(waits.size() == 2);
    CHECK(waits[1].at_s == 2.5);
    CHECK(waits_between({silent("a")}, 0, 9, 0).empty());
}

TEST_CASE("agent_window: an agent that does not answer, or for too few seconds, is lost") {
    CHECK(agent_window(silent("a"), 0, 5).lost);
    CHECK(agent_window(waiting("a", 80, 4, 10), 0, 5).lost);
    const auto window = agent_window(waiting("a", 80, 9, 10), 2, 5);
    CHECK_FALSE(window.lost);
    CHECK(window.scheduled == 30);
    CHECK(window.acked == 30);
    CHECK(window.producer_s == 6);
}

TEST_CASE("contradiction_in: more acknowledged than sent is named with its second") {
    auto report = waiting("a", 80, 5, 10);
    CHECK_FALSE(contradiction_in(report));
    report.report->seconds[3].acked = 11;
    REQUIRE(contradiction_in(report));
    CHECK(contradiction_in(report)->find(
              "agent a reports 11 acknowledged and 0 failed of 10 sent in second 3") == 0);
}

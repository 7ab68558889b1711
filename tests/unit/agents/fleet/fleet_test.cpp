#include <doctest/doctest.h>

#include <numeric>

#include "agents/fleet/agent_calls.hpp"
#include "agents/fleet/http_fleet.hpp"
#include "agents/fleet/split.hpp"
#include "agents/fleet/window_totals.hpp"
#include "agents/net/http_server.hpp"

using namespace brink;
using namespace brink::fleet;

TEST_CASE("split_producers: shares any number exactly, larger shares first") {
    CHECK(split_producers(7, 2) == std::vector<int>{4, 3});
    CHECK(split_producers(1, 3) == std::vector<int>{1, 0, 0});
    for (int agents = 1; agents <= 16; ++agents) {
        for (int producers = 0; producers <= 200; ++producers) {
            const auto shares = split_producers(producers, agents);
            CHECK(std::accumulate(shares.begin(), shares.end(), 0) == producers);
            CHECK(shares.front() - shares.back() <= 1);
        }
    }
}

TEST_CASE("totals_between: sums whole seconds of the window and nothing else") {
    protocol::TaskReport report;
    for (int s = 0; s < 10; ++s) {
        protocol::SecondFigures second{
            .second = s, .scheduled = 100, .sent = 99, .acked = 90, .failed = 1, .unsent = 1};
        second.send_lag_p99_ms = s;
        second.latency.counts.assign(4, 1);
        second.throttled_ms = 250;
        second.throttled_answers = 2;
        second.longest_throttle_ms = 100 + s;
        report.seconds.push_back(second);
    }
    const auto sum = totals_between(report, 3, 6);
    CHECK(sum.seconds == 3);
    CHECK(sum.scheduled == 300);
    CHECK(sum.acked == 270);
    CHECK(sum.send_lag_p99_ms == 5);
    CHECK(sum.throttled_ms == doctest::Approx(750));
    CHECK(sum.throttled_answers == 6);
    CHECK(sum.longest_throttle_ms == 105);
    CHECK(sum.latency.counts == std::vector<std::uint64_t>(4, 3));
    CHECK(totals_between(report, 8, 20).seconds == 2);
}

TEST_CASE("saturation_of: each mark of the specification is evidence by itself") {
    protocol::TaskReport report;
    WindowTotals totals{.scheduled = 10'000};
    CHECK(saturation_of(report, totals).empty());
    report.load.cpu_share = 0.95;
    CHECK(saturation_of(report, totals).size() == 1);
    totals.queue_full = 11;
    CHECK(saturation_of(report, totals).size() == 2);
    totals.schedule_lag_p99_ms = 101;
    CHECK(saturation_of(report, totals).size() == 3);
}

TEST_CASE("saturation_of: a full queue is the agent's fault only when brokers answer fast") {
    const protocol::TaskReport report;
    WindowTotals totals{.scheduled = 10'000, .queue_full = 5'000, .send_lag_p99_ms = 1'800};
    CHECK(saturation_of(report, totals).empty());  // how fast they answer is not known
    totals.answer_ms = {{1, 3.2}, {2, 240.0}};
    CHECK(saturation_of(report, totals).empty());
    totals.answer_ms = {{1, 3.2}, {2, 6.1}};
    REQUIRE(saturation_of(report, totals).size() == 1);
    CHECK(saturation_of(report, totals)[0].find("every broker answered within 7 ms") != std::string::npos);
    totals.queue_full = 10;
    CHECK(saturation_of(report, totals).empty());
}

TEST_CASE("totals_between: messages sent late out of a full queue are not the agent's own lag") {
    protocol::TaskReport report;
    report.seconds = {{.second = 0, .send_lag_p99_ms = 3},
                      {.second = 1, .queue_full = 9, .send_lag_p99_ms = 900},
                      {.second = 2, .send_lag_p99_ms = 400},  // still catching up
                      {.second = 3, .send_lag_p99_ms = 20}};
    CHECK(totals_between(report, 0, 4).schedule_lag_p99_ms == 20);
    CHECK(totals_between(report, 0, 4).send_lag_p99_ms == 900);
    CHECK(totals_between(report, 2, 3).schedule_lag_p99_ms == 0);
}

TEST_CASE("totals_between: answer times are means over the seconds that have one, broker by broker") {
    protocol::TaskReport report;
    report.seconds = {{.second = 0, .answer_ms = {{1, 2.0}, {2, 100.0}}},
                      {.second = 1, .answer_ms = {{1, 4.0}}},
                      {.second = 2}};
    CHECK(totals_between(report, 0, 3).answer_ms == std::map<int, double>{{1, 3.0}, {2, 100.0}});
}

TEST_CASE("quantile_ms: answers the middle of the bucket that holds the rank") {
    protocol::HistogramCounts histogram;
    CHECK_FALSE(quantile_ms(histogram, 0.5));
    histogram.counts.assign(100, 0);
    histogram.counts[80] = 99;  // 2^10 µs
    histogram.counts[96] = 1;   // 2^12 µs
    CHECK(*quantile_ms(histogram, 0.5) == doctest::Approx(1.024).epsilon(0.1));
    CHECK(*quantile_ms(histogram, 0.99) == doctest::Approx(1.024).epsilon(0.1));
    CHECK(*quantile_ms(histogram, 1.0) == doctest::Approx(4.096).epsilon(0.1));
}

TEST_CASE("mean_ms: weighs the buckets' middles by what is in them") {
    protocol::HistogramCounts histogram;
    CHECK_FALSE(mean_ms(histogram));
    histogram.counts.assign(100, 0);
    CHECK_FALSE(mean_ms(histogram));
    histogram.counts[80] = 3;  // 2^10 µs
    histogram.counts[96] = 1;  // 2^12 µs
    CHECK(*mean_ms(histogram) == doctest::Approx((3 * 1.024 + 4.096) / 4).epsilon(0.1));
}

TEST_CASE("ask_status: an agent that answers garbage is unusable, one that is not there unreachable") {
    auto garbage = net::HttpServer::listen("127.0.0.1:0", [](const net::HttpRequest&) {
        net::HttpResponse response{.content_type = "text/html"};
        response.body = "<html>hello</html>";
        return response;
    });
    REQUIRE(garbage);
    auto empty = net::HttpServer::listen("127.0.0.1:0", [](const net::HttpRequest&) {
        net::HttpResponse response;
        response.body = "{}";
        return response;
    });
    REQUIRE(empty);
    net::HttpClient http;
    const auto all = ask_status(http, {{.name = "html", .url = "http://" + (*garbage)->address()},
                                       {.name = "empty", .url = "http://" + (*empty)->address()},
                                       {.name = "gone", .url = "http://127.0.0.1:1"}});
    CHECK(all[0].state == "unusable");
    CHECK(all[0].reason.find("brink-agent") != std::string::npos);
    CHECK(all[1].state == "unusable");
    CHECK(all[2].state == "unreachable");
    CHECK(all[2].reason.find("http://127.0.0.1:1") != std::string::npos);
}

TEST_CASE("HttpFleet: without a ready agent nothing is prepared, and the reason is said") {
    net::HttpClient http;
    HttpFleet fleet(http, {{.name = "gone", .url = "http://127.0.0.1:1"}}, 1,
                    std::chrono::milliseconds{5000});
    protocol::TaskSpec three;
    three.producers = 3;
    const auto prepared = fleet.prepare("t-1", three);
    REQUIRE_FALSE(prepared);
    CHECK(prepared.error().code == ErrorCode::unavailable);
    CHECK(prepared.error().message.find("no agent is ready") != std::string::npos);
}

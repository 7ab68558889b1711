#include "daemon/sweep/window_signals.hpp"

#include <doctest/doctest.h>

#include "daemon/sweep/point_result.hpp"

using namespace brink;

namespace {

ObservedScrape scrape(int broker, double at_s, std::map<std::string, double> signals) {
    ObservedScrape seen{.broker_id = broker, .at_s = at_s};
    seen.reading = ScrapeReading{};
    seen.reading->signals = std::move(signals);
    return seen;
}

storage::TrialRow trial(int producers, const char* verdict, double p99_ms, const std::string& signals) {
    storage::TrialRow row;
    row.state = "finished";
    row.verdict = verdict;
    row.producers = producers;
    row.rate_each = 10;
    row.offered_msgs_per_s = producers * 10;
    row.acked_msgs_per_s = producers * 10;
    row.p99_ms = p99_ms;
    row.verdict_json = R"({"signals":)" + signals + "}";
    return row;
}

}  // namespace

TEST_CASE("gauges_between: means of the window, the worst broker's") {
    const std::vector<SignalMark> marks{
        {"request_queue", true, 8}, {"network_idle", false, 0.3}, {"max_lag", true, 1}};
    auto silent = scrape(3, 10, {});
    silent.reading.reset();
    const auto worst = gauges_between({scrape(1, 10, {{"request_queue", 2}, {"network_idle", 0.9}}),
                                       scrape(1, 20, {{"request_queue", 6}, {"network_idle", 0.7}}),
                                       scrape(2, 10, {{"request_queue", 1}, {"network_idle", 0.5}}),
                                       scrape(2, 31, {{"request_queue", 999}, {"network_idle", 0}}), silent},
                                      10, 30, marks);
    CHECK(worst.at("request_queue") == 4);
    CHECK(worst.at("network_idle") == 0.5);
    CHECK_FALSE(worst.contains("max_lag"));
}

TEST_CASE("conclude: the first-crossing table is of the trials that could be judged") {
    storage::PointRow point{.sweep_id = "s", .message_bytes = 100};
    conclude(point, {.lower = ProducerCount{50}, .upper = ProducerCount{60}, .flags = {}},
             {trial(10, "invalid", 9000, R"({"request_queue":99,"p99_ms":9000})"),
              trial(50, "sustained", 20, R"({"request_queue":3,"p99_ms":20})"),
              trial(60, "overloaded", 80, R"({"request_queue":12,"p99_ms":80})")},
             3, {});
    CHECK(point.first_crossings_json ==
          R"([{"mark":8.0,"msgs_per_s":600.0,"side":"above","signal":"request_queue","value":12.0},)"
          R"({"mark":100.0,"msgs_per_s":null,"side":"above","signal":"p99_ms","value":null}])");
    CHECK(point.evidence == "proxy_only");
}

TEST_CASE("conclude: deliveries or latency that tell the two ends apart validate a point") {
    const auto evidence = [](double lower_ms, double upper_ms, double upper_acked) {
        storage::PointRow point{.sweep_id = "s", .message_bytes = 100};
        auto upper = trial(60, "overloaded", upper_ms, "{}");
        upper.acked_msgs_per_s = upper_acked;
        conclude(point, {.lower = ProducerCount{50}, .upper = ProducerCount{60}, .flags = {}},
                 {trial(50, "sustained", lower_ms, "{}"), upper}, 3, {});
        return point.evidence;
    };
    CHECK(evidence(20, 30, 600) == "proxy_only");
    CHECK(evidence(20, 30, 590) == "validated");
    CHECK(evidence(60, 101, 600) == "validated");
    CHECK(evidence(99, 101, 600) == "proxy_only");   // across the mark, but by chance
    CHECK(evidence(150, 400, 600) == "proxy_only");  // slow at both ends
}

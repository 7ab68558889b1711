#include "daemon/cli/watch_view.hpp"

#include <doctest/doctest.h>

#include "daemon/cli/bracket.hpp"
#include "daemon/cli/watch_log.hpp"

using namespace brink::cli;
using nlohmann::json;

namespace {

json trial(int number, int point, int producers, const char* verdict) {
    return {{"trial", number},        {"point", point},      {"purpose", "search"},  {"state", "finished"},
            {"producers", producers}, {"rate_each", 20'000}, {"message_bytes", 100}, {"verdict", verdict}};
}

/// The moment of the transcript in the design.
SweepSnapshot running() {
    SweepSnapshot snapshot;
    snapshot.sweep = {{"id", "01JDQ4"},
                      {"state", "running"},
                      {"elapsed_s", 862.4},
                      {"remaining_s", 1140},
                      {"progress",
                       {{"points_total", 3},
                        {"points_done", 1},
                        {"points_failed", 0},
                        {"current",
                         {{"point", 1},
                          {"message_bytes", 1000},
                          {"phase", "measuring"},
                          {"trial", 9},
                          {"producers", 48},
                          {"rate_each", 120},
                          {"phase_ends_in_s", 11.2},
                          {"worst_idle", 0.24},
                          {"worst_broker", 2},
                          {"isr_churn", 0.0},
                          {"acked_msgs_per_s", nullptr},
                          {"agent_cpu", 0.61}}}}}};
    snapshot.points = json::array(
        {{{"point", 0},
          {"message_bytes", 100},
          {"state", "done"},
          {"lower_producers", 96},
          {"upper_producers", 100},
          {"lower_msgs_per_s", 1'920'000},
          {"upper_msgs_per_s", 2'000'000},
          {"measured_msgs_per_s", 1'919'000},
          {"measured_mb_per_s", 191.9},
          {"limited_by", "io_idle"}},
         {{"point", 1}, {"message_bytes", 1000}, {"state", "running"}, {"lower_producers", nullptr}},
         {{"point", 2}, {"message_bytes", 10'000}, {"state", "pending"}}});
    json over = trial(7, 0, 100, "overloaded");
    over["figures"] = json::array(
        {{{"rule", "isr_churn"}, {"value", 0.0}, {"threshold", 0.5}, {"broker_id", -1}, {"fired", false}},
         {{"rule", "io_idle"}, {"value", 0.17}, {"threshold", 0.2}, {"broker_id", 2}, {"fired", true}}});
    snapshot.trials = json::array(
        {trial(6, 0, 96, "sustained"), over, trial(8, 1, 40, "sustained"), trial(9, 1, 56, "overloaded")});
    return snapshot;
}

}  // namespace

TEST_CASE("watch_block: shows the header, a row a size, and what is going on") {
    const auto block = watch_block(running(), {{0.9, 0.5, 0.24}, std::nullopt}, 120, 40);
    REQUIRE(block.size() == 7);
    CHECK(block[0] == "01JDQ4 RUNNING  size 2/3  ████████░░░░░░░░░░░░ 43 %  14:22 elapsed, about 19:00 left");
    CHECK(block[1] == "   SIZE  PRODUCERS ok/over  LIMIT msg/s        MB/s  STOPPED BY");
    CHECK(block[2] == "  100 B    96 / 100         1.92M [1.92–2.00]   192  broker 2 IO idle 17% (<20%)");
    CHECK(block[3] == "   1 kB    40 / 56          testing 48            –");
    CHECK(block[4] == "  10 kB  queued");
    CHECK(block[5] == "trial 9  1 kB  48 × 120/s  measuring, 0:12 left");
    CHECK(block[6] == "broker 2 IO idle 24% █▄▂   ISR churn 0%   busiest agent CPU 61%");
}

TEST_CASE("watch_block: says how old the data is while the controller is away") {
    const auto block = watch_block(running(), {{}, "14:22:07"}, 120, 40);
    CHECK(block.back() == "reconnecting, data up to 14:22:07");
}

TEST_CASE("watch_block: fits the terminal in both directions") {
    SweepSnapshot snapshot = running();
    for (int i = 3; i < 60; ++i)
        snapshot.points.push_back({{"point", i}, {"message_bytes", 10'000 + i}, {"state", "pending"}});
    const auto block = watch_block(snapshot, {}, 30, 20);
    CHECK(block.size() < 20);
    bool current_shown = false;
    for (const auto& line : block) {
        CHECK(line.size() <= 30 * 4);
        current_shown = current_shown || line.find("40 / 56") != std::string::npos;
    }
    CHECK(current_shown);
}

TEST_CASE("watch_block: survives documents without any field it knows") {
    SweepSnapshot snapshot;
    snapshot.sweep = json::object();
    snapshot.points = json::array({json::object(), 7, {{"state", 3}, {"message_bytes", "x"}}});
    snapshot.trials = json::array({json::object(), nullptr});
    CHECK(watch_block(snapshot, {}, 80, 24).size() == 5);
    CHECK_FALSE(trial_line(json::object()).empty());
}

TEST_CASE("limit_cell: a missing end is said, never filled in") {
    CHECK(limit_cell({{"lower_msgs_per_s", 5000}, {"measured_msgs_per_s", 4990}}) == "4.99k [at least]");
    CHECK(limit_cell({{"upper_msgs_per_s", 2000}}) == "below 2.00k");
    CHECK(limit_cell(json::object()) == "–");
}

TEST_CASE("stopped_by: falls back to the trial's sentence, then to the rule's name") {
    SweepSnapshot snapshot = running();
    snapshot.trials[1]["figures"] = json::array();
    snapshot.trials[1]["reasons"] = json::array({"delivered 91% of what was due"});
    CHECK(stopped_by(snapshot.points[0], snapshot.trials) == "delivered 91% of what was due");
    snapshot.trials.clear();
    CHECK(stopped_by(snapshot.points[0], snapshot.trials) == "IO idle");
}

TEST_CASE("header_line: an ended sweep never reads as running") {
    json sweep = running().sweep;
    sweep["state"] = "cancelled";
    CHECK(header_line(sweep) == "01JDQ4 CANCELLED  1 of 3 sizes  14:22 elapsed");
    SweepSnapshot snapshot = running();
    snapshot.sweep = sweep;
    CHECK(current_lines(snapshot, {}).empty());
    CHECK(point_table(snapshot)[3] == "  10 kB  not measured");
}

TEST_CASE("WatchLog: tells each finished trial and point once, a point after its trials") {
    WatchLog log;
    SweepSnapshot snapshot = running();
    const auto events = log.advance(snapshot);
    REQUIRE(events.size() == 5);
    CHECK(event_line(events[0], snapshot) == "trial 6  100 B  96 × 20.0k/s  sustained");
    CHECK(event_line(events[2], snapshot) ==
          "100 B: 96 / 100 producers ok/over, limit 1.92M [1.92–2.00] msg/s, 192 MB/s, "
          "stopped by broker 2 IO idle 17% (<20%)");
    CHECK(log.advance(snapshot).empty());
    snapshot.trials.push_back(trial(10, 1, 48, "sustained"));
    snapshot.sweep["state"] = "succeeded";
    const auto later = log.advance(snapshot);
    REQUIRE(later.size() == 2);
    CHECK(later[1]["event"] == "end");
    CHECK(log.advance(snapshot).empty());
}

TEST_CASE("progress_bar: from nothing to everything") {
    CHECK(progress_bar(0, 100) == "░░░░░░░░░░░░░░░░░░░░ 0 %");
    CHECK(progress_bar(50, 50) == "██████████░░░░░░░░░░ 50 %");
    CHECK(progress_bar(100, 0) == "████████████████████ 100 %");
    CHECK(progress_bar(0, 0) == "░░░░░░░░░░░░░░░░░░░░ 0 %");
    CHECK(progress_bar(10, -5) == "████████████████████ 100 %");
}

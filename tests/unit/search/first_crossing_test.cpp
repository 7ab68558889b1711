#include "search/first_crossing.hpp"

#include <doctest/doctest.h>

using namespace brink;

TEST_CASE("first_crossings: each signal's lowest load across its mark, in the order of the loads") {
    const std::vector<SignalMark> marks{{"io_idle", false, 0.2},
                                        {"request_queue", true, 8},
                                        {"p99_ms", true, 100},
                                        {"max_lag", true, 10},
                                        {"network_idle", false, 0.3}};
    // In the order of a search, not of the loads.
    const auto table =
        first_crossings({{4000, {{"io_idle", 0.6}, {"request_queue", 1}, {"p99_ms", 5}, {"max_lag", 11}}},
                         {8000, {{"io_idle", 0.1}, {"request_queue", 50}, {"p99_ms", 90}}},
                         {6000, {{"io_idle", 0.3}, {"request_queue", 9}, {"p99_ms", 20}, {"max_lag", 12}}},
                         {7000, {{"io_idle", 0.2}, {"request_queue", 7}}}},
                        marks);
    REQUIRE(table.size() == 4);  // network_idle was never read
    CHECK(table[0].mark.signal == "max_lag");
    CHECK(*table[0].msgs_per_s == 4000);
    CHECK(table[1].mark.signal == "request_queue");
    CHECK(*table[1].msgs_per_s == 6000);
    CHECK(*table[1].value == 9);
    CHECK(table[2].mark.signal == "io_idle");
    CHECK(*table[2].msgs_per_s == 8000);  // 0.2 is not below 0.2
    CHECK(table[3].mark.signal == "p99_ms");
    CHECK_FALSE(table[3].msgs_per_s);
}

TEST_CASE("first_crossings: nothing of nothing") {
    CHECK(first_crossings({}, signal_marks({})).empty());
    CHECK(first_crossings({{100, {}}}, signal_marks({})).empty());
}

TEST_CASE("signal_marks: the rules' own thresholds are the marks of what they judge") {
    JudgeRules rules;
    rules.io_idle_below = 0.35;
    rules.isr_churn_above = 0.1;
    const auto marks = signal_marks(rules);
    CHECK(marks[0].signal == "io_idle");
    CHECK(marks[0].mark == 0.35);
    CHECK(marks[1].mark == 0.1);
}

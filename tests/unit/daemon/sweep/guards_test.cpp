#include "daemon/sweep/guards.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace brink;

namespace {

LatestReadings three(const std::string& signal, double one, double two, double three) {
    LatestReadings readings;
    readings[1].signals[signal] = one;
    readings[2].signals[signal] = two;
    readings[3].signals[signal] = three;
    return readings;
}

}  // namespace

TEST_CASE("guard_on: each guard has its mark, its reason, and what it ends") {
    GuardConfig users;
    users.signals = {{.name = "max_lag", .above = 1000},
                     {.name = "network_idle", .below = 0.1, .ends_sweep = true}};
    const struct {
        GuardConfig guards;
        LatestReadings readings;
        std::string reason;  ///< empty: does not trip
        bool ends_sweep;
    } cases[] = {
        {{}, three("offline_partitions", 0, 2, 0), "2 partitions of the cluster are offline (mark 0)", true},
        {{.offline_partitions_above = 2}, three("offline_partitions", 0, 2, 0), "", false},
        {{},
         three("under_min_isr", 1, 2, 0),
         "3 partitions have fewer replicas in sync than min.insync.replicas (mark 0)",
         false},
        {{.under_min_isr_above = 3}, three("under_min_isr", 1, 2, 0), "", false},
        {{},
         three("log_disk_share", 0.3, 0.4, 0.86),
         "the log disk of broker 3 is 86 % full (mark 85 %)",
         true},
        {{}, three("log_disk_share", 0.3, 0.4, 0.85), "", false},
        {users, three("max_lag", 1000, 1001, 5),
         "max_lag of broker 2 is 1001, above the mark 1000 of clusters.guards.signal", false},
        {users, three("network_idle", 0.09, 0.5, 0.5),
         "network_idle of broker 1 is 0.09, below the mark 0.1 of clusters.guards.signal", true},
        {users, three("network_idle", 0.1, 0.5, 0.5), "", false},
        {{}, three("max_lag", 1e9, 0, 0), "", false},
        {users, {}, "", false},
    };
    for (const auto& c : cases) {
        CAPTURE(c.reason);
        const auto trip = guard_on(c.guards, c.readings);
        CHECK(trip.has_value() == !c.reason.empty());
        if (!trip) continue;
        CHECK(trip->reason == c.reason);
        CHECK(trip->ends_sweep == c.ends_sweep);
    }
}

TEST_CASE("foreign_bytes: is what cannot be ours, by bytes or by messages") {
    const Traffic before{.bytes = 5e9, .messages = 5e6};
    const auto foreign = [&](double bytes, double messages, double own, std::int64_t own_bytes) {
        return foreign_bytes(before, {before.bytes + bytes, before.messages + messages}, {own, own_bytes});
    };
    // Ours alone, as brokers count it: with overhead, compressed, or fewer than were due.
    CHECK(foreign(1000 * 1100, 1000, 1000, 1000) == 0);
    CHECK(foreign(1000 * 50, 1000, 1000, 1000) == 0);
    CHECK(foreign(900 * 1070, 900, 1000, 1000) == 0);
    // 10 messages of 1 MB beside 1000 of 1 kB: by bytes.
    CHECK(foreign(1000 * 1070 + 10e6, 1010, 1000, 1000) == doctest::Approx(10e6).epsilon(0.01));
    // 1000 messages of 100 B beside as many of ours, which the overhead allowed for would hide: by messages.
    CHECK(foreign(2000 * 110, 2000, 1000, 100) == doctest::Approx(1000 * 110));
    // Ten small ones beside large ones of ours are not taken for ten large ones.
    CHECK(foreign(100 * 1e6 + 10 * 100, 110, 100, 1'000'000) <= 10 * 1000);
    // A restarted broker's counters begin anew.
    CHECK(foreign(-4e9, -4e6, 1000, 1000) == 0);
}

TEST_CASE("foreign_guard: trips above the mark, and above 1 % of ours where that is more") {
    const OwnTraffic small{.messages = 1000, .message_bytes = 1000};
    CHECK_FALSE(foreign_guard(10e6, 10, small, 1e6));
    CHECK(foreign_guard(11e6, 10, small, 1e6)->reason ==
          "other clients send at least 1.10 MB/s (mark 1.00) while the trial runs");
    CHECK_FALSE(foreign_guard(11e6, 10, small, 1e6)->ends_sweep);
    CHECK_FALSE(foreign_guard(11e6, 4.9, small, 1e6));
    const OwnTraffic large{.messages = 2e6, .message_bytes = 1000};  // 200 MB/s over 10 s
    CHECK_FALSE(foreign_guard(19e6, 10, large, 1e6));
    CHECK(foreign_guard(21e6, 10, large, 1e6));
}

TEST_CASE("traffic_of: is not known where one broker does not show it") {
    LatestReadings readings;
    CHECK_FALSE(traffic_of(readings));
    readings[1].sample.bytes_in = 10;
    readings[1].sample.messages_in = 1;
    readings[2].sample.bytes_in = 20;
    CHECK_FALSE(traffic_of(readings));
    readings[2].sample.messages_in = 2;
    CHECK(traffic_of(readings)->bytes == 30);
    CHECK(traffic_of(readings)->messages == 3);
}

TEST_CASE("unwatched: names each guard without its signal") {
    GuardConfig guards;
    guards.signals = {{.name = "max_lag", .above = 1}};
    const auto missing = unwatched(guards, three("under_min_isr", 0, 0, 0));
    REQUIRE(missing.size() == 4);
    CHECK(missing[0] == "offline partitions (no broker shows offline_partitions)");
    CHECK(missing[1] == "log disks (no broker shows log_disk_share)");
    CHECK(missing[2].find("foreign traffic") == 0);
    CHECK(missing[3] == "clusters.guards.signal max_lag (no broker shows max_lag)");
}

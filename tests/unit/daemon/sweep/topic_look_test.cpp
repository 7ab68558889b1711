#include "daemon/sweep/topic_look.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace brink;

namespace {

/// Six partitions on three brokers, two led by each.
std::vector<PartitionInfo> even() {
    std::vector<PartitionInfo> partitions;
    for (int p = 0; p < 6; ++p) {
        const int leader = p % 3 + 1;
        const std::vector<int> replicas{leader, leader % 3 + 1};
        partitions.push_back({p, leader, replicas, replicas});
    }
    return partitions;
}

}  // namespace

TEST_CASE("unequal_leaders: every broker has to lead its share") {
    CHECK_FALSE(unequal_leaders(even(), 3));
    auto moved = even();
    moved[1].leader = 3;
    CHECK(unequal_leaders(moved, 3).value() ==
          "broker 3 leads 3 of the topic's 6 partitions, its share is 2");
    moved[1].leader = -1;
    CHECK(unequal_leaders(moved, 3).value() == "partition 1 has no leader");
    CHECK(unequal_leaders({}, 3));
}

TEST_CASE("topic_change: names a leader, a reassignment or partitions that are other than before") {
    CHECK_FALSE(topic_change(even(), even()));
    auto isr = even();
    isr[0].in_sync = {1};
    CHECK_FALSE(topic_change(even(), isr));
    auto leader = even();
    leader[4].leader = 3;
    CHECK(topic_change(even(), leader).value() ==
          "the leader of partition 4 changed from broker 2 to 3 during the trial");
    auto reassigned = even();
    reassigned[2].replicas = {3, 1, 2};
    CHECK(topic_change(even(), reassigned).value() ==
          "partition 2 of the topic was reassigned during the trial (replicas 3,1 before, 3,1,2 after)");
    auto more = even();
    more.push_back({6, 1, {1}, {1}});
    CHECK(topic_change(even(), more)->find("had 6 partitions before the trial and 7 after it") !=
          std::string::npos);
}

TEST_CASE("topic_faults: a look that failed is not taken for one that showed nothing") {
    CHECK(topic_faults(even(), even()).empty());
    const TopicLook failed = tl::unexpected(Error{ErrorCode::timed_out, "no answer", {}});
    CHECK(topic_faults(even(), failed).front().find("not known: no answer") != std::string::npos);
    CHECK(topic_faults(failed, even()).size() == 1);
}

TEST_CASE("topics_on_the_move: a partition with more replicas than its topic's others is being reassigned") {
    auto moving = even();
    moving[5].replicas.push_back(2);
    const auto found = topics_on_the_move({{"orders", even()}, {"payments", moving}, {"empty", {}}});
    REQUIRE(found.size() == 1);
    CHECK(found.front() == "topic payments has 3 replicas of partition 5 and 2 of partition 0");
}

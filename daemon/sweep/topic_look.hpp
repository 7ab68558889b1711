#pragma once
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "daemon/cluster/cluster.hpp"

// What the cluster's metadata say of the topic that a sweep loads: a cheap look, taken on both sides of a
// trial.

namespace brink {

/// Why the brokers do not share the topic evenly: a partition without a leader, or a broker that leads more
/// than its share. Nothing when all lead equally many (± 1 where the number of partitions does not divide).
/// Pure.
std::optional<std::string> unequal_leaders(const std::vector<PartitionInfo>& partitions, std::size_t brokers);

/// What changed between two looks: partitions, a leader, or replicas (a reassignment). In-sync replicas may
/// change; that is ISR churn. It cannot see a leader that went and came back between the looks. Pure.
std::optional<std::string> topic_change(const std::vector<PartitionInfo>& before,
                                        const std::vector<PartitionInfo>& after);

/// Both looks of a trial: what they show against the trial, as reasons to void it. A look that failed is one.
/// Pure.
using TopicLook = tl::expected<std::vector<PartitionInfo>, Error>;
std::vector<std::string> topic_faults(const TopicLook& before, const TopicLook& after);

/// Topics a partition of which has more replicas than the others of its topic, as it has while it is
/// reassigned: each named with the partition. A reassignment that has not begun to copy, or that only drops
/// replicas, looks like any other topic; librdkafka 2.0 has no ListPartitionReassignments. Pure.
std::vector<std::string> topics_on_the_move(const std::map<std::string, std::vector<PartitionInfo>>& layout);

}  // namespace brink

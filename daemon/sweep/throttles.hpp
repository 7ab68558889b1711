#pragma once
#include <map>
#include <string>
#include <vector>

namespace brink {

/// What is left of a replication throttle in a broker's configuration, as `kafka-reassign-partitions` leaves
/// it behind when it is never run with --verify. A rate holds back only replicas that are listed as
/// throttled: where the broker lists some for all of its topics, followers of our topic would be held back
/// too.
struct ThrottleFindings {
    std::vector<std::string> problems{};  ///< forbid a sweep
    std::vector<std::string> warnings{};
};
ThrottleFindings left_behind_throttles(int broker_id,
                                       const std::map<std::string, std::string>& broker_config);

/// Whether a topic's configuration lists replicas to be throttled.
bool lists_throttled_replicas(const std::map<std::string, std::string>& config);

}  // namespace brink

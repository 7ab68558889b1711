#include "daemon/sweep/throttles.hpp"

#include <fmt/format.h>

namespace brink {
namespace {

/// What Kafka shows for a rate that is not set.
constexpr const char* kNoLimit = "9223372036854775807";

bool is_set(const std::map<std::string, std::string>& config, const std::string& key,
            const std::string& unset) {
    const auto at = config.find(key);
    return at != config.end() && !at->second.empty() && at->second != unset && at->second != "none";
}

}  // namespace

bool lists_throttled_replicas(const std::map<std::string, std::string>& config) {
    return is_set(config, "leader.replication.throttled.replicas", "") ||
           is_set(config, "follower.replication.throttled.replicas", "");
}

ThrottleFindings left_behind_throttles(int broker_id,
                                       const std::map<std::string, std::string>& broker_config) {
    ThrottleFindings found;
    for (const std::string side : {"leader", "follower"}) {
        const auto key = side + ".replication.throttled.rate";
        if (!is_set(broker_config, key, kNoLimit)) continue;
        const auto what = fmt::format("broker {} has a replication throttle left behind ({} = {})", broker_id,
                                      key, broker_config.at(key));
        const auto remedy =
            fmt::format("kafka-configs --entity-type brokers --entity-name {} --alter --delete-config {}",
                        broker_id, key);
        if (lists_throttled_replicas(broker_config)) {
            found.problems.push_back(
                fmt::format("{} that holds back every topic: remove it, with {}", what, remedy));
        } else {
            found.warnings.push_back(
                fmt::format("{}; it does not touch brink's topic. To remove it: {}", what, remedy));
        }
    }
    return found;
}

}  // namespace brink

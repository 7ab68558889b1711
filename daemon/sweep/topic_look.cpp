#include "daemon/sweep/topic_look.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>

namespace brink {

std::optional<std::string> unequal_leaders(const std::vector<PartitionInfo>& partitions,
                                           std::size_t brokers) {
    if (partitions.empty()) return "the topic has no partitions";
    std::map<int, std::size_t> led;
    for (const auto& partition : partitions) {
        if (partition.leader < 0) return fmt::format("partition {} has no leader", partition.partition);
        ++led[partition.leader];
    }
    const auto most = std::max_element(led.begin(), led.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto share = (partitions.size() + brokers - 1) / std::max<std::size_t>(1, brokers);
    if (most->second <= share) return std::nullopt;
    return fmt::format("broker {} leads {} of the topic's {} partitions, its share is {}", most->first,
                       most->second, partitions.size(), share);
}

std::optional<std::string> topic_change(const std::vector<PartitionInfo>& before,
                                        const std::vector<PartitionInfo>& after) {
    if (before.size() != after.size()) {
        return fmt::format("the topic had {} partitions before the trial and {} after it", before.size(),
                           after.size());
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
        const auto& was = before[i];
        const auto& is = after[i];
        if (was.replicas != is.replicas) {
            return fmt::format(
                "partition {} of the topic was reassigned during the trial (replicas {} before, {} after)",
                was.partition, fmt::join(was.replicas, ","), fmt::join(is.replicas, ","));
        }
        if (was.leader != is.leader) {
            return fmt::format("the leader of partition {} changed from broker {} to {} during the trial",
                               was.partition, was.leader, is.leader < 0 ? "none" : std::to_string(is.leader));
        }
    }
    return std::nullopt;
}

std::vector<std::string> topic_faults(const TopicLook& before, const TopicLook& after) {
    for (const auto* look : {&before, &after}) {
        if (!*look)
            return {"whether the topic changed under the trial is not known: " + look->error().message};
    }
    if (auto change = topic_change(*before, *after)) return {*change};
    return {};
}

std::vector<std::string> topics_on_the_move(const std::map<std::string, std::vector<PartitionInfo>>& layout) {
    std::vector<std::string> moving;
    for (const auto& [topic, partitions] : layout) {
        if (partitions.empty()) continue;
        const auto [least, most] = std::minmax_element(
            partitions.begin(), partitions.end(),
            [](const auto& a, const auto& b) { return a.replicas.size() < b.replicas.size(); });
        if (least->replicas.size() == most->replicas.size()) continue;
        moving.push_back(fmt::format("topic {} has {} replicas of partition {} and {} of partition {}", topic,
                                     most->replicas.size(), most->partition, least->replicas.size(),
                                     least->partition));
    }
    return moving;
}

}  // namespace brink

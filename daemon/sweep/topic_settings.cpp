#include "daemon/sweep/topic_settings.hpp"

#include <algorithm>
#include <cstdint>

#include "daemon/sweep/preflight.hpp"

namespace brink {
namespace {

constexpr std::int64_t kDiskBudget = 8'000'000'000;
constexpr std::int64_t kSmallestSegment = 16'000'000;
constexpr std::int64_t kLargestSegment = 512'000'000;

}  // namespace

std::map<std::string, std::string> topic_settings(const SweepSpec& spec, std::size_t brokers) {
    const auto largest = *std::max_element(spec.message_bytes.begin(), spec.message_bytes.end());
    const auto replicas = static_cast<std::int64_t>(brokers) * spec.partitions_per_broker *
                          std::max(1, replication_factor(spec, brokers));
    // Retention removes whole segments, so half of a partition's share is left to the segment being written.
    const auto share = kDiskBudget / std::max<std::int64_t>(1, replicas);
    const auto segment = std::max({kSmallestSegment, 2 * largest, std::min(share / 2, kLargestSegment)});
    std::map<std::string, std::string> settings{{"retention.bytes", std::to_string(segment)},
                                                {"segment.bytes", std::to_string(segment)},
                                                {"cleanup.policy", "delete"}};
    for (const auto& [key, value] : spec.topic_config) settings[key] = value;
    return settings;
}

}  // namespace brink

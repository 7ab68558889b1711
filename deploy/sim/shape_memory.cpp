#include "deploy/sim/shape_memory.hpp"

#include <cmath>

namespace brink::sim {
namespace {

constexpr double kNearFull = 0.8;
constexpr double kBatchHeader = 61;
/// Lengths, deltas and an empty key of a record take about 10 bytes; a few more when its value is long.
constexpr double kRecordOverhead = 10;
constexpr double kSlack_bytes = 6;
constexpr double kSlack_share = 0.02;
constexpr double kFewest = 20;  ///< messages a second that say something

int key_of(double bytes_per_message) {
    return static_cast<int>(std::lround(std::log(bytes_per_message) * 32));
}

double off_full(const ShapeMemory::Second& second) { return std::abs(second.busiest - kNearFull); }

}  // namespace

void ShapeMemory::remember(const Second& second) {
    if (second.messages < kFewest || second.batches < 1 || second.requests < 1) return;
    const auto [at, fresh] = by_size_.try_emplace(key_of(second.bytes / second.messages), second);
    if (!fresh && off_full(second) < off_full(at->second)) at->second = second;
}

std::optional<TrafficShape> ShapeMemory::of(double message_bytes) const {
    const Second* best = nullptr;
    for (const auto& [key, second] : by_size_) {
        const double overhead = kRecordOverhead + kBatchHeader * second.batches / second.messages;
        const double off = std::abs(second.bytes / second.messages - overhead - message_bytes);
        if (off > kSlack_bytes + kSlack_share * message_bytes) continue;
        if (!best || off_full(second) < off_full(*best)) best = &second;
    }
    if (!best) return std::nullopt;
    return TrafficShape{.bytes_per_message = best->bytes / best->messages,
                        .requests_per_message = best->requests / best->messages};
}

}  // namespace brink::sim

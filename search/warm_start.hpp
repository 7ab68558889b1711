#pragma once
#include <optional>
#include <vector>

#include "search/units.hpp"

namespace brink {

/// A finished point as a warm start sees it: the boundary lies between `lower` and `upper`.
struct FinishedPoint {
    MessageSize message_bytes;
    MessagesPerSecond lower;
    MessagesPerSecond upper;
};

/// Seconds that one message costs the cluster, by its size: `per_message` + `per_byte` × bytes. Real brokers
/// come close to that line over several decades.
struct MessageCost {
    double per_message = 0;  ///< ≥ 0
    double per_byte = 0;     ///< ≥ 0
    [[nodiscard]] MessagesPerSecond rate(MessageSize size) const;
};

/// Fits the cost line through the reciprocals of the finished boundaries, each weighted by how narrow its
/// bracket is relative to its cost. One point alone is taken as all cost per message. Nothing without points.
/// Pure.
std::optional<MessageCost> fit_cost(const std::vector<FinishedPoint>& points);

/// Whether a point lies further than a quarter from the line through all the others; it is marked, never
/// moved. False with fewer than two others. Pure.
bool off_curve(const FinishedPoint& point, const std::vector<FinishedPoint>& others);

}  // namespace brink

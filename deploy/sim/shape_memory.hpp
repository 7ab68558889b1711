#pragma once
#include <map>
#include <optional>

#include "deploy/sim/capacity_model.hpp"

namespace brink::sim {

/// Remembers in which batches and requests messages of each size arrived, for the truth depends on it. For
/// each size the second that came nearest to 80 % busy counts. Not thread-safe.
class ShapeMemory {
  public:
    /// Traffic of one second over all brokers, and how busy the busiest of them was in it.
    struct Second {
        double requests = 0;
        double batches = 0;
        double messages = 0;
        double bytes = 0;
        double busiest = 0;
    };
    void remember(const Second& second);
    /// The shape of messages of this payload; nothing when none (or only compressed ones) were seen.
    [[nodiscard]] std::optional<TrafficShape> of(double message_bytes) const;

  private:
    std::map<int, Second> by_size_;  ///< key: bytes per message, in steps of about 3 %
};

}  // namespace brink::sim

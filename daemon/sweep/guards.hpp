#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/guard_config.hpp"
#include "daemon/metrics/metrics_source.hpp"

// What stops the load of a trial the moment it is read. Pure: readings in, a reason out.

namespace brink {

/// The newest reading of each broker, by its id.
using LatestReadings = std::map<int, ScrapeReading>;

/// Why the load has to go off. The trial is void; `ends_sweep` where trying again would only do more harm.
struct GuardTrip {
    std::string reason;
    bool ends_sweep = false;
};

/// What came in from clients, summed over all brokers.
struct Traffic {
    double bytes = 0;
    double messages = 0;
};

/// Nothing where a broker does not show both counters.
std::optional<Traffic> traffic_of(const LatestReadings& readings);

/// The most that our own load can have brought in.
struct OwnTraffic {
    double messages = 0;  ///< offered since the load began
    std::int64_t message_bytes = 0;
};

/// Bytes that came in between two readings and cannot have been ours: the higher of two lower bounds.
/// By bytes: what exceeds our messages with 128 bytes of overhead each; brokers count batches as sent, so
/// compression only makes our part smaller, and with large messages this is nearly exact. By messages: those
/// beyond what our schedule allows, at the size that messages have on average, within 100 … 1000 bytes; what
/// small or compressed messages hide from the first bound shows here, and the limits keep a few small foreign
/// messages beside our large ones from being taken for large. Blind to what our load falls short of its
/// schedule by.
double foreign_bytes(const Traffic& since, const Traffic& now, const OwnTraffic& own);

/// The foreign traffic of a trial so far, as a mean since its load began: a moment's excess may be messages
/// that had queued up. Trips above `mark_bytes_per_s`, or above 1 % of our own where that is more. Nothing in
/// the first 5 s.
std::optional<GuardTrip> foreign_guard(double bytes, double seconds, const OwnTraffic& own,
                                       double mark_bytes_per_s);

/// The first guard that the readings trip: offline partitions, the log disk, under min ISR, then the user's.
/// Offline partitions and a full disk end the sweep, since another trial makes neither better; partitions
/// under min ISR end the trial: they come back when the load is gone. A guard whose signal no broker shows
/// does not trip; see `unwatched`.
std::optional<GuardTrip> guard_on(const GuardConfig& guards, const LatestReadings& readings);

/// Each guard that has nothing to watch, and the signal that it lacks.
std::vector<std::string> unwatched(const GuardConfig& guards, const LatestReadings& readings);

}  // namespace brink

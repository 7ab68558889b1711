#pragma once
#include <cstdint>

namespace brink::sim {

/// What work costs one IO thread of a broker, and how many threads a broker has. The limits of the embedded
/// cluster follow from these alone.
struct CapacityModel {
    int io_threads = 2;
    double us_per_request = 20;   ///< microseconds of one IO thread for each produce request
    double us_per_message = 230;  ///< for each message
    double us_per_byte = 0.035;   ///< for each byte appended to the log (batch headers included)
    double noise = 0.002;         ///< relative standard deviation of a broker's costs, drawn anew each second
    std::uint64_t seed = 1;       ///< of the noise
    double churn_above_busy = 0;  ///< followers cannot keep up above this busy share; 0: they always can
    double churn_lag_s = 10;      ///< and leave the in-sync replicas so many seconds later
};

/// How messages reach a broker: what turns a message rate into requests and bytes.
struct TrafficShape {
    double bytes_per_message = 0;     ///< log bytes, overhead of records and batches included
    double requests_per_message = 1;  ///< 1 / (messages in one produce request)
};

/// The shape of messages of this payload that each travel alone, uncompressed: a batch header of 61 bytes and
/// a record of about 10 (Kafka's record format v2).
TrafficShape lone_messages(double message_bytes);

/// Seconds of one IO thread for some work. Pure.
double thread_seconds(const CapacityModel& model, double requests, double messages, double bytes);

/// The true boundary: the highest messages/s over all brokers, led equally, at which every broker is idle for
/// at least `idle_below` (0.2) of the time; `slowest` is the cost factor of the slowest broker (1: all
/// alike). From the model alone. Pure.
double true_messages_per_s(const CapacityModel& model, const TrafficShape& shape, int brokers,
                           double idle_below = 0.2, double slowest = 1);

}  // namespace brink::sim

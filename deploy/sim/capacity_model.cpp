#include "deploy/sim/capacity_model.hpp"

namespace brink::sim {
namespace {

constexpr double kBatchHeader = 61;
constexpr double kRecordOverhead = 10;
constexpr double kMicro = 1e-6;

}  // namespace

TrafficShape lone_messages(double message_bytes) {
    return {.bytes_per_message = message_bytes + kBatchHeader + kRecordOverhead, .requests_per_message = 1};
}

double thread_seconds(const CapacityModel& model, double requests, double messages, double bytes) {
    return kMicro *
           (model.us_per_request * requests + model.us_per_message * messages + model.us_per_byte * bytes);
}

double true_messages_per_s(const CapacityModel& model, const TrafficShape& shape, int brokers,
                           double idle_below, double slowest) {
    const double per_message = thread_seconds(model, shape.requests_per_message, 1, shape.bytes_per_message);
    return brokers * model.io_threads * (1 - idle_below) / (per_message * slowest);
}

}  // namespace brink::sim

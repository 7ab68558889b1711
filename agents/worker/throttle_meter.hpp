#pragma once
#include <algorithm>
#include <cstdint>

#include "agents/worker/monotonic.hpp"

namespace brink::worker {

/// For how long one producer was held back by brokers' quotas.
///
/// A broker whose quota is exceeded answers at once, with a throttle time, and then does not read that
/// connection for as long (KIP-219, Kafka 2.0 and later). librdkafka 2.0.2 calls back for *every* answer with
/// a throttle time above 0, and once with 0 when some broker's answer has none (rd_kafka_op_throttle_time).
/// The 0 says nothing about the brokers that throttled before, so it is ignored: a throttle lasts for as long
/// as its answer said. Times of several brokers may overlap and count once. Not thread-safe.
class ThrottleMeter {
  public:
    struct Span {
        std::int64_t from_ns = 0;
        std::int64_t to_ns = 0;  ///< equal to `from_ns` when nothing is new
    };
    /// An answer that arrived at `now_ns` asks for `throttle_ms`. Returns what of [now, now + throttle) no
    /// earlier answer has accounted for; calls come in order of time.
    Span add(std::int64_t now_ns, int throttle_ms) {
        const auto to = now_ns + std::max(throttle_ms, 0) * kNsPerMs;
        const auto from = std::max(now_ns, until_ns_);
        until_ns_ = std::max(until_ns_, to);
        return {from, std::max(from, to)};
    }

  private:
    std::int64_t until_ns_ = 0;
};

}  // namespace brink::worker

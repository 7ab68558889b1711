#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agents/protocol/messages.hpp"
#include "agents/worker/latency_histogram.hpp"

namespace brink::worker {

/// What one sender thread counted for one second of the schedule.
struct SecondSlot {
    std::atomic<std::uint64_t> scheduled{0};
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> acked{0};
    std::atomic<std::uint64_t> failed{0};
    std::atomic<std::uint64_t> queue_full{0};
    std::atomic<std::uint64_t> unsent{0};
    std::atomic<std::uint64_t> throttled_us{0};  ///< of all producers together, each at most the whole second
    std::atomic<std::uint64_t> throttled_answers{0};
    std::atomic<std::uint64_t> longest_throttle_ms{0};
    LatencyHistogram lag{};      ///< µs from due to handed over
    LatencyHistogram latency{};  ///< µs from due to acknowledged
};

/// The counters of one sender thread. That thread alone writes; reports are read by others while it goes on,
/// without a lock per message. Seconds are kept for the whole task, in chunks made when first needed: about 2
/// KB a second.
class Tally {
  public:
    /// Room for `seconds` seconds; later ones count towards the last.
    explicit Tally(std::int64_t seconds);

    // For the sender thread only.
    void start(std::int64_t start_ns) { start_ns_ = start_ns; }
    [[nodiscard]] std::int64_t start_ns() const { return start_ns_; }
    SecondSlot& slot(std::int64_t second);
    void count_sent(std::int64_t due_ns, std::int64_t now_since_start_ns);
    void count_acked(std::int64_t due_us, std::int64_t now_ns);
    void count_failed(std::int64_t due_us, const char* code, const char* message);
    void count_error(const char* code, const char* message);
    /// An answer arrived at `now_ns` with a throttle time, which holds a producer back over [from, to) more
    /// than was counted for it before. All are instants of the monotonic clock; what lies outside of the
    /// task's seconds is left out.
    void count_throttled(std::int64_t now_ns, int throttle_ms, std::int64_t from_ns, std::int64_t to_ns);
    /// How long brokers took to answer, by broker, as told at `now_ns`.
    void note_answers(std::int64_t now_ns, const std::map<int, double>& answer_ms);
    void settle(std::int64_t seconds) { settled_.store(seconds, std::memory_order_release); }
    void note_stall(std::int64_t ns);

    // For any thread.
    [[nodiscard]] std::int64_t settled() const { return settled_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t sent() const { return sent_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t acked() const { return acked_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::int64_t longest_stall_ns() const { return stall_ns_.load(std::memory_order_relaxed); }
    /// Adds the counts of a second to `figures` and its send lags to `lag`.
    void add_to(protocol::SecondFigures& figures, protocol::HistogramCounts& lag) const;
    void add_errors_to(std::map<std::string, protocol::DeliveryError>& sum) const;

  private:
    static constexpr std::int64_t kChunkSeconds = 16;
    struct Chunk {
        SecondSlot slots[kChunkSeconds];
    };

    std::int64_t seconds_;
    std::int64_t start_ns_ = 0;
    std::vector<std::unique_ptr<Chunk>> owned_;
    std::vector<std::atomic<Chunk*>> chunks_;  ///< published to readers; null until first written
    std::atomic<std::int64_t> settled_{0};     ///< seconds before this one get no more messages
    std::atomic<std::uint64_t> sent_{0};
    std::atomic<std::uint64_t> acked_{0};
    std::atomic<std::uint64_t> failed_{0};
    std::atomic<std::int64_t> stall_ns_{0};
    mutable std::mutex answers_mutex_;
    std::map<std::int64_t, std::map<int, double>> answer_ms_;  ///< by second and broker
    mutable std::mutex errors_mutex_;
    std::map<std::string, protocol::DeliveryError> errors_;
};

}  // namespace brink::worker

#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace brink {

/// What a running sweep is doing this moment; lives in memory only.
struct Progress {
    int point = 0;
    std::int64_t message_bytes = 0;
    std::string phase{};  ///< observing_rest, calibrating, preparing, warming_up, measuring, recovering
    int trial = 0;
    int producers = 0;
    double rate_each = 0;
    std::string why{};
    double phase_ends_at_s = 0;  ///< on the monotonic clock; 0 when unknown
    std::optional<double> worst_idle{};
    std::optional<int> worst_broker{};
    std::optional<double> isr_churn{};
    std::optional<double> acked_msgs_per_s{};
    std::optional<double> agent_cpu{};
};

/// The latest progress, written by the sweep's thread and read by the API's. Thread-safe.
class ProgressBoard {
  public:
    template <class Change>
    void change(Change&& change) {
        std::lock_guard lock(mutex_);
        change(progress_);
    }
    [[nodiscard]] Progress read() const {
        std::lock_guard lock(mutex_);
        return progress_;
    }

  private:
    mutable std::mutex mutex_;
    Progress progress_;
};

}  // namespace brink

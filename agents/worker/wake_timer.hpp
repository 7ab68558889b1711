#pragma once
#include <cstdint>

namespace brink::worker {

/// Sleeps until an absolute instant of CLOCK_MONOTONIC, or until woken. `timerfd` deadlines are absolute, so
/// a late wake-up does not move the next one. `wait_until` for one thread, `wake` for any.
class WakeTimer {
  public:
    /// Throws std::system_error when no descriptors are left.
    WakeTimer();
    ~WakeTimer();
    WakeTimer(const WakeTimer&) = delete;
    WakeTimer& operator=(const WakeTimer&) = delete;

    /// Returns at `deadline_ns`, at once if that has passed, or early after `wake()`.
    void wait_until(std::int64_t deadline_ns);
    void wake();

  private:
    int timer_ = -1;
    int event_ = -1;
};

}  // namespace brink::worker

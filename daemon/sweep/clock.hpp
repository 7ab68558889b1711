#pragma once
#include <cstdint>
#include <stop_token>

namespace brink {

/// Time as a sweep sees it; tests replace it. Thread-safe.
class Clock {
  public:
    virtual ~Clock() = default;
    /// Seconds on the monotonic clock: the same as in `BrokerSample::at_s`.
    [[nodiscard]] virtual double now_s() const = 0;
    [[nodiscard]] virtual std::int64_t unix_ms() const = 0;
    /// Waits until `at_s`. False when `stop` was requested first (or already).
    virtual bool wait_until(double at_s, const std::stop_token& stop) = 0;
};

class SystemClock final : public Clock {
  public:
    [[nodiscard]] double now_s() const override;
    [[nodiscard]] std::int64_t unix_ms() const override;
    bool wait_until(double at_s, const std::stop_token& stop) override;
};

}  // namespace brink

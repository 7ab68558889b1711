#pragma once
#include <chrono>
#include <cstdint>

namespace brink::worker {

inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;
inline constexpr std::int64_t kNsPerMs = 1'000'000;

/// CLOCK_MONOTONIC in ns: the clock that `timerfd` deadlines are given in.
inline std::int64_t monotonic_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace brink::worker

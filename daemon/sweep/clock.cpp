#include "daemon/sweep/clock.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace brink {

double SystemClock::now_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t SystemClock::unix_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

bool SystemClock::wait_until(double at_s, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    const auto until = std::chrono::steady_clock::time_point(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(at_s)));
    wake.wait_until(lock, stop, until, [] { return false; });
    return !stop.stop_requested();
}

}  // namespace brink

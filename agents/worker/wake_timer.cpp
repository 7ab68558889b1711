#include "agents/worker/wake_timer.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "agents/worker/monotonic.hpp"

namespace brink::worker {

WakeTimer::WakeTimer()
    : timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (timer_ >= 0 && event_ >= 0) return;
    const int fault = errno;
    if (timer_ >= 0) close(timer_);
    if (event_ >= 0) close(event_);
    throw std::system_error(fault, std::generic_category(), "a sender thread needs two descriptors");
}

WakeTimer::~WakeTimer() {
    close(timer_);
    close(event_);
}

void WakeTimer::wait_until(std::int64_t deadline_ns) {
    // Zero would disarm the timer; an instant that has passed fires at once.
    const auto at = std::max<std::int64_t>(deadline_ns, 1);
    itimerspec when{};
    when.it_value.tv_sec = at / kNsPerSecond;
    when.it_value.tv_nsec = at % kNsPerSecond;
    timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
    std::array<pollfd, 2> wait{
        {{.fd = timer_, .events = POLLIN, .revents = 0}, {.fd = event_, .events = POLLIN, .revents = 0}}};
    if (::poll(wait.data(), wait.size(), -1) <= 0) return;
    std::uint64_t count = 0;
    for (const auto& one : wait)
        if ((one.revents & POLLIN) != 0)
            static_cast<void>(read(one.fd, &count, sizeof(count)) == sizeof(count));
}

void WakeTimer::wake() {
    const std::uint64_t one = 1;
    static_cast<void>(write(event_, &one, sizeof(one)) == sizeof(one));
}

}  // namespace brink::worker

#include "agents/worker/pacer.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace brink::worker {
namespace {

/// Tokens come at this many times the rate, and idle time saves up this many seconds' worth, so that a second
/// never holds more than 1.11 × rate. A sender thread beside other work is woken up some tens of ms late,
/// again and again; with less saved up than that it falls behind for good (seen with 10 ms beside a compiler:
/// up to half of what was due was given up as late).
constexpr double kRefill = 1.07;
constexpr double kBurstSeconds = 0.04;

}  // namespace

Pacer::Pacer(double rate, double phase)
    : rate_(rate), phase_(phase), burst_(std::max(1.0, rate * kBurstSeconds)), tokens_(burst_) {
    if (!(rate > 0) || !std::isfinite(rate)) throw std::invalid_argument("Pacer: the rate must be > 0");
    if (!(phase >= 0 && phase < 1)) throw std::invalid_argument("Pacer: the phase must be in [0, 1)");
}

std::int64_t Pacer::due_ns(std::uint64_t j) const {
    // Below 2^53 in every intermediate for a day of ten million messages a second.
    return static_cast<std::int64_t>(std::ceil((static_cast<double>(j) + phase_) / rate_ * 1e9));
}

std::uint64_t Pacer::due_by(std::int64_t elapsed_ns) const {
    if (elapsed_ns < 0) return 0;
    const double estimate = std::floor(static_cast<double>(elapsed_ns) * 1e-9 * rate_ - phase_) + 1;
    auto count = static_cast<std::uint64_t>(std::max(estimate, 0.0));
    // The estimate rounds its own way; `due_ns` decides.
    while (count > 0 && due_ns(count - 1) > elapsed_ns) --count;
    while (due_ns(count) <= elapsed_ns) ++count;
    return count;
}

Pacer::Step Pacer::advance(std::int64_t elapsed_ns) {
    const auto now = std::max(elapsed_ns, elapsed_ns_);
    tokens_ = std::min(burst_, tokens_ + static_cast<double>(now - elapsed_ns_) * 1e-9 * rate_ * kRefill);
    elapsed_ns_ = now;

    Step step;
    step.newly_due_from = due_;
    due_ = due_by(now);
    step.due = due_;
    step.given_up_from = next_;
    // `due_by` of one instant earlier counts those strictly older than the bound.
    if (now > kCatchUpNs) next_ = std::max(next_, due_by(now - kCatchUpNs - 1));
    step.next = next_;
    step.sendable = std::min(due_ - next_, static_cast<std::uint64_t>(tokens_));
    return step;
}

void Pacer::sent(std::uint64_t n) {
    if (n > due_ - next_) throw std::logic_error("Pacer: more messages sent than were due");
    next_ += n;
    tokens_ -= static_cast<double>(n);
}

}  // namespace brink::worker

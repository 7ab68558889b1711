#pragma once
#include <cstdint>

namespace brink::worker {

/// When the messages of one producer are due, and how many may go out now. Pure: time is passed in.
///
/// Message j is due at (phase + j) / rate seconds after the start. Every due time is computed from j alone,
/// so nothing accumulates: after a day the schedule is still exact to the nanosecond.
///
/// The load is open-loop: a slow cluster does not slow the schedule. After a stall the backlog is made up at
/// about 1.1 × rate at most (a burst would be a load nobody asked for), and what is older than a second is
/// given up.
///
///     const auto step = pacer.advance(elapsed_ns);
///     // [step.given_up_from, step.next) are lost; [step.next, step.next + step.sendable) may be sent now
///     pacer.sent(n);                     // how many of them were
///
/// Not thread-safe.
class Pacer {
  public:
    /// Backlog older than this is given up.
    static constexpr std::int64_t kCatchUpNs = 1'000'000'000;

    /// `rate` in messages/s, > 0; `phase` in [0, 1): the producer's place among all, as a share of one
    /// interval.
    Pacer(double rate, double phase);

    struct Step {
        std::uint64_t newly_due_from =
            0;                  ///< messages that became due since the last step: [newly_due_from, due)
        std::uint64_t due = 0;  ///< messages due by now, over all
        std::uint64_t given_up_from = 0;  ///< [given_up_from, next) are too old now and will never be sent
        std::uint64_t next = 0;           ///< first message still to send
        std::uint64_t sendable = 0;       ///< how many may be sent at once, ≤ due − next
    };

    /// Moves to `elapsed_ns` since the start (before it: negative). A time before the last one counts as the
    /// last one.
    Step advance(std::int64_t elapsed_ns);
    /// The first `n` of the last step's sendable messages were handed over (or refused for good).
    void sent(std::uint64_t n);

    /// When message `j` is due, in ns since the start.
    [[nodiscard]] std::int64_t due_ns(std::uint64_t j) const;
    /// How many messages are due by `elapsed_ns`.
    [[nodiscard]] std::uint64_t due_by(std::int64_t elapsed_ns) const;
    /// First message neither sent nor given up.
    [[nodiscard]] std::uint64_t next() const { return next_; }
    /// Messages due at the last step.
    [[nodiscard]] std::uint64_t due() const { return due_; }

  private:
    double rate_;
    double phase_;
    double burst_;                  ///< most tokens that idle time can save up
    double tokens_;                 ///< messages that may go out now
    std::int64_t elapsed_ns_ = -1;  ///< of the last step; −1: before the start
    std::uint64_t due_ = 0;
    std::uint64_t next_ = 0;
};

}  // namespace brink::worker

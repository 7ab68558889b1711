#pragma once
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "agents/protocol/messages.hpp"

namespace brink::worker {

inline constexpr int kBucketsPerOctave = 8;
inline constexpr int kOctaves = 27;  ///< up to 134 s; the last bucket takes everything above
inline constexpr std::size_t kBuckets = std::size_t{kBucketsPerOctave} * kOctaves;

/// Bucket of a value in µs: i such that 2^(i/8) ≤ value < 2^((i+1)/8); 0 counts as 1. Integer arithmetic
/// only, since it runs once per message: the leading bit gives the octave, seven comparisons the eighth
/// within it.
inline std::size_t bucket_of(std::uint64_t us) {
    constexpr double kTop = 9223372036854775808.0;  // 2^63
    // 2^63 · 2^(k/8) for k = 1…7.
    constexpr std::array<std::uint64_t, 7> kSteps = {static_cast<std::uint64_t>(kTop * 1.0905077326652577),
                                                     static_cast<std::uint64_t>(kTop * 1.1892071150027210),
                                                     static_cast<std::uint64_t>(kTop * 1.2968395546510096),
                                                     static_cast<std::uint64_t>(kTop * 1.4142135623730951),
                                                     static_cast<std::uint64_t>(kTop * 1.5422108254079408),
                                                     static_cast<std::uint64_t>(kTop * 1.6817928305074290),
                                                     static_cast<std::uint64_t>(kTop * 1.8340080864093424)};
    if (us < 2) return 0;
    const int shift = std::countl_zero(us);
    const auto octave = static_cast<std::size_t>(63 - shift);
    if (octave >= kOctaves) return kBuckets - 1;
    const std::uint64_t mantissa = us << shift;
    std::size_t eighth = 0;
    for (const auto step : kSteps) eighth += mantissa >= step ? 1 : 0;
    return octave * kBucketsPerOctave + eighth;
}

/// Upper edge of a bucket in µs.
double bucket_upper_us(std::size_t bucket);

/// Adds to a counter that only the calling thread writes: other threads read it, so it is atomic, but no
/// locked instruction is needed.
template <typename Number>
void add_single_writer(std::atomic<Number>& counter, Number amount) {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

/// Log-scaled counts of one second. One thread adds; any thread may read meanwhile.
class LatencyHistogram {
  public:
    void add(std::uint64_t us) { add_single_writer(counts_[bucket_of(us)], std::uint32_t{1}); }
    /// Adds these counts to `sum`, which grows to the last bucket in use and no further.
    void add_to(protocol::HistogramCounts& sum) const;

  private:
    std::array<std::atomic<std::uint32_t>, kBuckets> counts_{};
};

/// Upper edge in µs of the bucket that holds quantile `q` (0…1); 0 when there are no counts.
double quantile_us(const protocol::HistogramCounts& histogram, double q);

}  // namespace brink::worker

#include "agents/worker/latency_histogram.hpp"

#include <cmath>
#include <numeric>

namespace brink::worker {

double bucket_upper_us(std::size_t bucket) {
    return std::exp2(static_cast<double>(bucket + 1) / kBucketsPerOctave);
}

void LatencyHistogram::add_to(protocol::HistogramCounts& sum) const {
    std::size_t used = kBuckets;
    while (used > sum.counts.size() && counts_[used - 1].load(std::memory_order_relaxed) == 0) --used;
    if (used > sum.counts.size()) sum.counts.resize(used, 0);
    for (std::size_t i = 0; i < sum.counts.size() && i < kBuckets; ++i)
        sum.counts[i] += counts_[i].load(std::memory_order_relaxed);
}

double quantile_us(const protocol::HistogramCounts& histogram, double q) {
    const auto total = std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0});
    if (total == 0) return 0;
    const double rank = q * static_cast<double>(total);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        below += histogram.counts[i];
        if (static_cast<double>(below) >= rank) return bucket_upper_us(i);
    }
    return bucket_upper_us(histogram.counts.size() - 1);
}

}  // namespace brink::worker

#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"
#include "search/verdict.hpp"

namespace brink {

/// What a scrape was understood to say. Names of signals: isr_shrinks, isr_expands, under_replicated,
/// under_min_isr, offline_partitions, bytes_in, messages_in, process_start_s, request_queue, network_idle,
/// replication_bytes_in, max_lag, connections; and how idle the broker is, as one of io_idle_ns (counter),
/// io_idle_1m (one-minute average), io_busy_s.N (busy seconds of shard N), io_busy_percent. One-minute rates
/// of events end in _1m. A signal that is absent, NaN or infinite is not in the map.
struct ScrapeReading {
    BrokerSample sample;  ///< at_s: seconds of the monotonic clock, half-way through the scrape
    std::map<std::string, double> signals{};
    std::map<std::string, std::string> series{};  ///< signal → series it came from
    std::string profile{};                        ///< the exporter that the page was taken for
    bool broker_meter = false;                    ///< the broker's own meter (from Kafka 4.2) was there
    double scrape_ms = 0;
    std::int64_t at_unix_ms = 0;
};

struct Scrape {
    int broker_id = 0;
    tl::expected<ScrapeReading, Error> reading;
    /// When a scrape that failed was made, on the monotonic clock, where the source knows that better than
    /// whoever asked.
    std::optional<double> failed_at_s{};
    /// Neither a sample nor a miss: the source is fed by somebody else and has had nothing since it was last
    /// asked. `reading` then is an error that says so, for those who need a reading now.
    bool nothing_new = false;
};

/// The same by the profiles that ship. Pure. Errors: bad_reply, naming what is missing: the idle counter
/// (with the exporter rule to add), or that the page is not metrics at all.
tl::expected<ScrapeReading, Error> read_scrape(std::string_view text);

/// Where the brokers' metrics come from. Implementations: `Scraper`, `PrometheusSource`, and the fakes of
/// tests. Thread-safe.
class MetricsSource {
  public:
    virtual ~MetricsSource() = default;
    /// What is new of every broker, under one deadline, in the order of `broker_ids`: one reading of each
    /// where it is the call that makes the scrape; all since the last call, oldest first, where somebody else
    /// makes them.
    virtual std::vector<Scrape> scrape_all(std::chrono::milliseconds deadline) = 0;
    [[nodiscard]] virtual std::vector<int> broker_ids() const = 0;
    /// Where a broker's readings come from, for people; empty when nobody said.
    [[nodiscard]] virtual std::string origin(int /*broker_id*/) const { return {}; }
    /// Seconds between the samples of a source that is fed by somebody else, of its slowest broker; 0 where
    /// it is the call that makes the scrape, or while it is not known yet (before the first call).
    [[nodiscard]] virtual double sampling_interval_s() const { return 0; }
    /// How long after a moment its samples may still arrive, in seconds; 0 where they are there at once.
    [[nodiscard]] virtual double late_by_s() const { return 0; }
};

}  // namespace brink

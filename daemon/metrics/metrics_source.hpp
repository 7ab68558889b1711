#pragma once
#include <chrono>
#include <cstdint>
#include <map>
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
};

/// The same by the profiles that ship. Pure. Errors: bad_reply, naming what is missing: the idle counter
/// (with the exporter rule to add), or that the page is not metrics at all.
tl::expected<ScrapeReading, Error> read_scrape(std::string_view text);

/// Where the brokers' metrics come from. Implementations: `Scraper`, and the fakes of tests. Thread-safe.
class MetricsSource {
  public:
    virtual ~MetricsSource() = default;
    /// One reading of every broker, under one deadline, in the order of `broker_ids`.
    virtual std::vector<Scrape> scrape_all(std::chrono::milliseconds deadline) = 0;
    [[nodiscard]] virtual std::vector<int> broker_ids() const = 0;
};

}  // namespace brink

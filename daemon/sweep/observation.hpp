#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/metrics/metrics_source.hpp"
#include "daemon/sweep/clock.hpp"
#include "search/verdict.hpp"

namespace brink {

/// One scrape as it was seen: a reading, or why there is none.
struct ObservedScrape {
    int broker_id = 0;
    double at_s = 0;
    std::int64_t at_unix_ms = 0;
    std::optional<ScrapeReading> reading{};
    std::string error{};
};

/// Collects the scrapes of a trial and cuts windows out of them. Not thread-safe.
class Observation {
  public:
    explicit Observation(std::vector<int> broker_ids) : broker_ids_(std::move(broker_ids)) {}

    /// Scrapes every broker once and keeps what came; a source that has nothing new adds nothing. A failed
    /// scrape is dated by when it was made, or begun where nobody knows better.
    void scrape(MetricsSource& metrics, const Clock& clock, std::chrono::milliseconds timeout);
    /// The readings within [from, to] for every broker, also the silent ones; failed scrapes count as missed.
    [[nodiscard]] std::vector<BrokerWindow> between(double from_s, double to_s) const;
    /// The newest reading of each broker that has answered at all.
    [[nodiscard]] std::map<int, ScrapeReading> latest() const;
    /// The brokers of whom there is no reading from `at_s` or later.
    [[nodiscard]] std::vector<int> without_reading_from(double at_s) const;
    [[nodiscard]] const std::vector<ObservedScrape>& all() const { return scrapes_; }

  private:
    std::vector<int> broker_ids_;
    std::vector<ObservedScrape> scrapes_;
};

}  // namespace brink

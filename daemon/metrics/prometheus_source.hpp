#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agents/net/http_client.hpp"
#include "config/controller_config.hpp"
#include "daemon/metrics/metrics_source.hpp"
#include "daemon/metrics/signal_reader.hpp"
#include "daemon/metrics/stored_scrapes.hpp"

namespace brink {

/// Reads the brokers' metrics from a Prometheus server that scrapes them: raw samples with the timestamps at
/// which they were scraped, by instant queries of range selectors (`{instance="h:7071",…}[30s]`). Never
/// `rate()`, and never plain instant vectors, which carry the query's time and may be five minutes old.
///
/// Time: differences between samples are Prometheus' own. Its clock is compared with this machine's monotonic
/// one when it first answers, by `time()` to half a round trip, and that offset stays; so its clock may show
/// any time at all. A clock that is set meanwhile is seen at the next call, which then is a miss, and
/// compared anew. Samples are dated half-way through their scrape, as `Scraper` does, where
/// `scrape_duration_seconds` is stored.
///
/// Thread-safe; calls wait for one another.
class PrometheusSource final : public MetricsSource {
  public:
    PrometheusSource(net::HttpClient& http, PrometheusConfig server, SignalReader reader = SignalReader{});
    /// All scrapes that Prometheus made since the last call; at first the latest two or three. A broker of
    /// whom there is nothing new is a miss only once its newest sample is older than `lag_s` and two
    /// intervals. Errors, each naming broker, server and labels: the server cannot be reached or refuses, no
    /// or several targets have the labels, the target did not answer Prometheus, and those of `read_scrape`.
    std::vector<Scrape> scrape_all(std::chrono::milliseconds deadline) override;
    [[nodiscard]] std::vector<int> broker_ids() const override;
    [[nodiscard]] std::string origin(int broker_id) const override;
    [[nodiscard]] double sampling_interval_s() const override;
    /// `lag_s` and one interval: the first sample after a moment comes within an interval, and shows within
    /// the lag.
    [[nodiscard]] double late_by_s() const override;

  private:
    using Until = std::chrono::steady_clock::time_point;
    struct Broker {
        PrometheusBroker config{};
        std::optional<double> interval_s{};  ///< between its scrapes; nothing until it is known
        std::int64_t newest_ms = 0;          ///< of its samples, as far as we know
        std::int64_t delivered_ms = 0;       ///< samples up to here have been handed out
    };

    tl::expected<void, Error> meet_server(Until until);
    /// Looks which of the brokers not seen yet Prometheus has; the errors are in the order of the brokers.
    std::vector<std::optional<Error>> find_brokers(Until until);
    tl::expected<void, Error> check_clock(const prometheus::ClockReading& now);
    void add_scrapes(Broker& broker, const net::ClientResult& answer, const prometheus::ClockReading& now,
                     std::vector<Scrape>& scrapes) const;
    [[nodiscard]] Scrape dated(const Broker& broker, const prometheus::StoredScrape& stored) const;
    [[nodiscard]] Scrape silence(const Broker& broker, const prometheus::ClockReading& now) const;
    [[nodiscard]] Scrape failed(const Broker& broker, const Error& error) const;
    [[nodiscard]] net::ClientRequest request(const std::string& path_and_query) const;
    [[nodiscard]] net::ClientRequest samples_request(const Broker& broker, const std::string& names,
                                                     double range_s) const;
    [[nodiscard]] net::ClientRequest time_request() const;
    [[nodiscard]] double range_s(const Broker& broker) const;

    net::HttpClient& http_;
    const PrometheusConfig server_;
    const SignalReader reader_;
    const std::string wanted_;  ///< regular expression for the names that the reader looks for
    mutable std::mutex mutex_;
    std::vector<Broker> brokers_;
    std::optional<double> offset_s_{};
    std::map<std::string, std::string>
        types_{};  ///< by family, as the server had them when it was first asked
};

}  // namespace brink

#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "agents/net/http_client.hpp"
#include "daemon/metrics/metrics_source.hpp"
#include "daemon/metrics/signal_reader.hpp"

namespace brink {

/// Where one broker's metrics are.
struct MetricsEndpoint {
    int broker_id = 0;
    std::string url{};
    std::string bearer_token{};
    std::string basic_user{};
    std::string basic_password{};
};

/// Scrapes all brokers side by side. Thread-safe.
class Scraper final : public MetricsSource {
  public:
    Scraper(net::HttpClient& http, std::vector<MetricsEndpoint> endpoints,
            SignalReader reader = SignalReader{});
    /// One scrape of each, under one deadline, in the order of the endpoints. An error says the address, what
    /// was seen (refused, status, content type, no idle signal) and what to change.
    std::vector<Scrape> scrape_all(std::chrono::milliseconds deadline) override;
    [[nodiscard]] std::vector<int> broker_ids() const override;
    [[nodiscard]] std::string origin(int broker_id) const override;

  private:
    net::HttpClient& http_;
    std::vector<MetricsEndpoint> endpoints_;
    SignalReader reader_;
};

}  // namespace brink

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

/// The call that reads an endpoint.
net::ClientRequest scrape_request(const MetricsEndpoint& endpoint);
/// The metrics page that such a call was answered with, inflated where it came so. Errors say what was seen
/// (refused, status, content type, encoding) and what to change.
tl::expected<std::string, Error> page_of(net::ClientResult result, std::chrono::milliseconds deadline);

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

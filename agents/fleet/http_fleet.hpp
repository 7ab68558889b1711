#pragma once
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agents/fleet/fleet.hpp"
#include "agents/fleet/lease_keeper.hpp"
#include "agents/net/http_client.hpp"

namespace brink::fleet {

/// Asks agents what they are, side by side. Thread-safe.
std::vector<AgentStatus> ask_status(net::HttpClient& http, const std::vector<AgentAddress>& agents);

/// The agents over HTTP. See `Fleet`.
class HttpFleet final : public Fleet {
  public:
    HttpFleet(net::HttpClient& http, std::vector<AgentAddress> agents, std::int64_t epoch,
              std::chrono::milliseconds lease);
    ~HttpFleet() override;
    HttpFleet(const HttpFleet&) = delete;
    HttpFleet& operator=(const HttpFleet&) = delete;

    std::vector<AgentStatus> status() override;
    tl::expected<void, Error> prepare(const std::string& trial, const protocol::TaskSpec& whole) override;
    tl::expected<void, Error> start(std::chrono::milliseconds delay) override;
    std::vector<AgentReport> reports(std::int64_t since) override;
    void stop() override;
    void remove() override;

  private:
    /// One call to each agent that has a task; `path` goes behind /v1/tasks/{trial}.
    std::vector<net::ClientResult> to_each(const std::string& method, const std::string& path,
                                           const nlohmann::json& body, std::chrono::milliseconds deadline);
    tl::expected<void, Error> first_fault(const std::vector<net::ClientResult>& results);

    net::HttpClient& http_;
    std::vector<AgentAddress> agents_;
    std::int64_t epoch_;
    std::string trial_;
    std::vector<AgentAddress> placed_;  ///< agents with a task of the trial
    std::vector<int> shares_;           ///< producers of each of them
    LeaseKeeper lease_;
};

}  // namespace brink::fleet

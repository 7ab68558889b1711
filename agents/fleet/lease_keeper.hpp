#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "agents/fleet/fleet.hpp"
#include "agents/net/http_client.hpp"

namespace brink::fleet {

/// Renews the lease of a set of agents once a second, on a thread of its own: whatever else the controller
/// waits for (a slow disk, a broker), the agents keep their lease as long as this process lives. Thread-safe.
class LeaseKeeper {
  public:
    LeaseKeeper(net::HttpClient& http, std::int64_t epoch, std::chrono::milliseconds lease);
    LeaseKeeper(const LeaseKeeper&) = delete;
    LeaseKeeper& operator=(const LeaseKeeper&) = delete;
    ~LeaseKeeper() = default;

    /// Renews now, then every second. Errors: the first agent that did not take the lease.
    tl::expected<void, Error> hold(std::vector<AgentAddress> agents);
    /// Renews no more; the agents' leases lapse.
    void release();

  private:
    std::vector<net::ClientResult> renew();
    void run(const std::stop_token& stop);

    net::HttpClient& http_;
    std::int64_t epoch_;
    std::chrono::milliseconds lease_;
    std::mutex mutex_;
    std::vector<AgentAddress> agents_;
    std::jthread thread_;  ///< last, so that it ends before what it uses
};

}  // namespace brink::fleet

#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "agents/protocol/messages.hpp"
#include "search/error.hpp"

namespace brink::fleet {

/// Where an agent is and how to speak to it.
struct AgentAddress {
    std::string name;
    std::string url;      ///< http://host:port
    std::string token{};  ///< sent as a bearer token when not empty
};

/// What is known of an agent right now.
struct AgentStatus {
    std::string name;
    std::string url;
    std::string state;     ///< ready, unreachable, unusable
    std::string reason{};  ///< why it is not ready
    protocol::HostFacts facts{};
    double clock_skew_ms = 0;  ///< agent's clock − ours; for showing only
};

/// One agent's answer to a question about its task.
struct AgentReport {
    std::string agent;
    tl::expected<protocol::TaskReport, Error> report;
    int producers = 0;  ///< of the trial, placed on this agent
};

/// The agents as one load generator. One trial at a time. Every call has a deadline and blocks up to it.
/// Implementations: HttpFleet, and the fakes of tests. Calls come from one thread at a time.
class Fleet {
  public:
    virtual ~Fleet() = default;
    virtual std::vector<AgentStatus> status() = 0;
    /// Places the producers of `whole` on the agents that are ready, and prepares them; `whole.producers` is
    /// the total. From here until `remove` leases are renewed. Errors: unavailable, naming the agent and what
    /// it answered.
    virtual tl::expected<void, Error> prepare(const std::string& trial, const protocol::TaskSpec& whole) = 0;
    /// Starts all tasks at one instant, `delay` after each agent has received the order.
    virtual tl::expected<void, Error> start(std::chrono::milliseconds delay) = 0;
    /// Seconds ≥ `since` of each agent that has a task.
    virtual std::vector<AgentReport> reports(std::int64_t since) = 0;
    /// Ends the load at once, purging what is queued. Repeats are harmless.
    virtual void stop() = 0;
    /// Stops, forgets the tasks and lets the leases lapse.
    virtual void remove() = 0;
};

}  // namespace brink::fleet

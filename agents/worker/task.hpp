#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "agents/protocol/messages.hpp"
#include "agents/worker/payload_pool.hpp"
#include "agents/worker/sender.hpp"
#include "search/error.hpp"

namespace brink::worker {

/// Messages counted over a task's life, for the metrics.
struct TaskTotals {
    std::uint64_t sent = 0;
    std::uint64_t acked = 0;
    std::uint64_t failed = 0;
};

/// One agent's share of one trial: prepared → starting → running → stopped, or failed.
/// Thread-safe. Stopping never waits; destroying does (for the clients to close).
class Task {
  public:
    /// `allowed_until_ns` is the lease: no message leaves after it. It must outlive the task.
    Task(std::string id, protocol::TaskSpec spec, std::map<std::string, std::string> properties,
         const std::atomic<std::int64_t>& allowed_until_ns);
    /// Stops and waits until the clients are closed.
    ~Task();
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;

    [[nodiscard]] const std::string& id() const { return orders_.trial; }
    [[nodiscard]] const protocol::TaskSpec& spec() const { return orders_.spec; }

    /// Creates and connects all clients; to be called once. Blocks for at most about ten seconds and 20 ms a
    /// producer. Errors: conflict (no room), invalid_input (a property), unavailable (no broker, no topic),
    /// cancelled.
    tl::expected<void, Error> prepare();
    /// Waits for the result of `prepare`, which another thread called.
    tl::expected<void, Error> await_prepared();
    /// Lets the schedule begin at `start_ns` (monotonic). Repeats change nothing. Errors: conflict (ended, or
    /// not prepared yet).
    tl::expected<void, Error> start(std::int64_t start_ns);
    /// Ends it: sending stops within a tick and what is queued is thrown away. The first reason stays. Does
    /// not wait.
    void request_stop(protocol::TaskState state, const std::string& reason);
    /// Waits until nothing of it is on its way any more; false after `limit`.
    bool await_drained(std::chrono::milliseconds limit);

    /// Stops, and waits until its clients are closed.
    void close();

    /// At most `most` ended seconds from `since` on; `load` is left to the caller.
    [[nodiscard]] protocol::TaskReport report(std::int64_t since, std::int64_t most) const;
    [[nodiscard]] protocol::TaskState state() const;
    [[nodiscard]] TaskTotals totals() const;
    /// When it was made, monotonic.
    [[nodiscard]] std::int64_t made_ns() const { return made_ns_; }

  private:
    tl::expected<void, Error> connect();
    [[nodiscard]] protocol::TaskState state_locked(std::int64_t now_ns) const;
    void make_senders();
    tl::expected<void, Error> conclude(tl::expected<void, Error> result);

    const std::int64_t made_ns_;
    SendOrders orders_;
    std::unique_ptr<PayloadPool> payloads_;  ///< made by `prepare`; outlives the senders

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool preparing_ = false;
    std::optional<tl::expected<void, Error>> prepared_;
    std::optional<protocol::TaskState> ended_;
    std::string reason_;
    std::int64_t ended_ns_ = 0;
    std::int64_t started_at_unix_ms_ = 0;
    std::size_t launched_ = 0;
    std::size_t connected_ = 0;
    std::size_t drained_ = 0;
    std::optional<Error> connect_error_;
    std::map<std::string, std::string> resolved_;
    /// Last, so that their threads end before what they use goes.
    std::vector<std::unique_ptr<Sender>> senders_;
};

}  // namespace brink::worker

#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "agents/protocol/messages.hpp"
#include "agents/worker/task.hpp"
#include "search/error.hpp"

namespace brink::worker {

/// What the operator of this agent's machine allows.
struct AgentRules {
    std::string agent_id = "agent";
    int max_producers = 0;  ///< of all tasks together; 0: what the machine takes
    std::vector<std::string> allowed_bootstrap_servers{};  ///< empty: any
};

/// Figures for the metrics, taken at one instant.
struct AgentFigures {
    std::map<protocol::TaskState, int> tasks{};
    TaskTotals totals{};
    protocol::AgentLoad load{};
    std::uint64_t lease_expiries = 0;
    double lease_remaining_s = 0;
    std::int64_t epoch = 0;
};

/// All tasks of an agent, and the three things that keep a cluster safe: the highest epoch seen (a lower one
/// is refused, a higher one drops all tasks of before), the lease (without one nothing runs, and when it
/// lapses all load ends by a thread of the table's own), and idempotence by (trial, epoch). Thread-safe. Only
/// `prepare` and `stop` block for longer than a moment.
class TaskTable {
  public:
    /// Tasks kept, ended ones included.
    static constexpr std::size_t kMostTasks = 64;
    /// Seconds in one report.
    static constexpr std::int64_t kMostSeconds = 600;
    /// `PUT`s that may wait for brokers at once; they must not use up the threads that renew leases.
    static constexpr int kMostPreparing = 4;

    explicit TaskTable(AgentRules rules);
    /// Stops all load and waits for the clients to close.
    ~TaskTable();
    TaskTable(const TaskTable&) = delete;
    TaskTable& operator=(const TaskTable&) = delete;

    struct Prepared {
        bool created = false;  ///< false: it was there already, with the same body
        protocol::TaskReport report{};
    };
    /// Every call answers conflict to an epoch lower than the highest seen, and not_found for an unknown
    /// task. Errors: conflict (another body, no room, too many tasks), invalid_input, unavailable (brokers,
    /// topic).
    tl::expected<Prepared, Error> prepare(const std::string& id, const protocol::TaskSpec& spec);
    /// Errors: conflict (ended, no valid lease).
    tl::expected<protocol::TaskReport, Error> start(const std::string& id, const protocol::StartOrder& order);
    tl::expected<protocol::TaskReport, Error> stop(const std::string& id, std::int64_t epoch,
                                                   std::int64_t since = 0);
    tl::expected<protocol::TaskReport, Error> report(const std::string& id, std::int64_t epoch,
                                                     std::int64_t since);
    /// Stops it too. Dropping what is not there is fine.
    tl::expected<void, Error> drop(const std::string& id, std::int64_t epoch);
    /// Renews; answers the ms left.
    tl::expected<double, Error> lease(const protocol::LeaseOrder& order);

    /// Reports without seconds of all tasks.
    [[nodiscard]] std::vector<protocol::TaskReport> list() const;
    [[nodiscard]] protocol::HostFacts host() const;
    [[nodiscard]] AgentFigures figures() const;
    /// Ends all load for good, waiting at most a second for it to leave the wire. Later calls are refused.
    void shut_down();

  private:
    /// Shared, since a call may still read a task that another one drops.
    using TaskPtr = std::shared_ptr<Task>;

    tl::expected<void, Error> admit(std::int64_t epoch);
    tl::expected<TaskPtr, Error> find(const std::string& id) const;
    tl::expected<void, Error> check_rules(const protocol::TaskSpec& spec) const;
    tl::expected<TaskPtr, Error> claim(const std::string& id, const protocol::TaskSpec& spec, bool& created);
    void bury(const TaskPtr& task, protocol::TaskState state, const std::string& reason);
    [[nodiscard]] protocol::TaskReport report_of(const Task& task, std::int64_t since,
                                                 std::int64_t most) const;
    [[nodiscard]] double lease_left_ms() const;
    void watch();
    void check_lease(std::int64_t now_ns);
    void check_unstarted(std::int64_t now_ns);
    void reap();

    const AgentRules rules_;
    mutable std::mutex mutex_;
    std::condition_variable watch_changed_;
    std::condition_variable graves_changed_;
    std::map<std::string, TaskPtr> tasks_;
    std::vector<TaskPtr> graveyard_;  ///< dropped, their clients still closing
    std::int64_t epoch_ = 0;
    bool leased_ = false;
    std::atomic<std::int64_t> allowed_until_ns_{0};
    std::uint64_t lease_expiries_ = 0;
    int preparing_ = 0;
    bool closing_ = false;
    bool ending_ = false;
    TaskTotals buried_;
    protocol::AgentLoad load_;
    std::thread watcher_;
    std::thread reaper_;
};

}  // namespace brink::worker

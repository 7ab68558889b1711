#include "agents/worker/task_table.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "agents/worker/client_properties.hpp"
#include "agents/worker/host_limits.hpp"
#include "agents/worker/monotonic.hpp"

namespace brink::worker {
namespace {

constexpr std::chrono::milliseconds kDrainWait{2'000};
/// A new task waits this long for the descriptors and threads of dropped ones.
constexpr std::chrono::milliseconds kGraveWait{3'000};

Error conflict(const std::string& message) { return Error{ErrorCode::conflict, message}; }

std::vector<std::string> split_servers(const std::string& list) {
    std::vector<std::string> out;
    std::size_t at = 0;
    while (at <= list.size()) {
        const auto comma = std::min(list.find(',', at), list.size());
        auto server = list.substr(at, comma - at);
        std::erase(server, ' ');
        out.push_back(server);
        at = comma + 1;
    }
    return out;
}

}  // namespace

TaskTable::TaskTable(AgentRules rules)
    : rules_(std::move(rules)), watcher_([this] { watch(); }), reaper_([this] { reap(); }) {}

TaskTable::~TaskTable() {
    shut_down();
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [id, task] : tasks_) graveyard_.push_back(task);
        tasks_.clear();
        ending_ = true;
    }
    watch_changed_.notify_all();
    graves_changed_.notify_all();
    watcher_.join();
    reaper_.join();
}

tl::expected<void, Error> TaskTable::admit(std::int64_t epoch) {
    if (closing_) return tl::unexpected(Error{ErrorCode::unavailable, "the agent is shutting down"});
    if (epoch < epoch_)
        return tl::unexpected(conflict("epoch " + std::to_string(epoch) +
                                       " is over: this agent has seen epoch " + std::to_string(epoch_) +
                                       "; a newer controller is in charge"));
    if (epoch == epoch_) return {};
    spdlog::info("event=epoch_raised from={} to={} tasks_dropped={}", epoch_, epoch, tasks_.size());
    for (const auto& [id, task] : tasks_)
        bury(task, protocol::TaskState::failed,
             "fenced: a controller of epoch " + std::to_string(epoch) + " took over");
    tasks_.clear();
    epoch_ = epoch;
    leased_ = false;
    allowed_until_ns_ = 0;
    return {};
}

void TaskTable::bury(const TaskPtr& task, protocol::TaskState state, const std::string& reason) {
    task->request_stop(state, reason);
    graveyard_.push_back(task);
    graves_changed_.notify_all();
}

tl::expected<TaskTable::TaskPtr, Error> TaskTable::find(const std::string& id) const {
    const auto found = tasks_.find(id);
    if (found == tasks_.end())
        return tl::unexpected(Error{ErrorCode::not_found, "there is no task '" + id + "' on this agent"});
    return found->second;
}

tl::expected<void, Error> TaskTable::check_rules(const protocol::TaskSpec& spec) const {
    const auto& allowed = rules_.allowed_bootstrap_servers;
    for (const auto& server : split_servers(spec.bootstrap_servers))
        if (!allowed.empty() && std::ranges::find(allowed, server) == allowed.end())
            return tl::unexpected(
                Error{ErrorCode::invalid_input,
                      "this agent may not load '" + server +
                          "': add it to allowed_bootstrap_servers in the agent's configuration",
                      {{"/bootstrap_servers", "'" + server + "' is not allowed on this agent"}}});
    if (rules_.max_producers == 0) return {};
    std::int64_t running = 0;
    for (const auto& [id, task] : tasks_) {
        const auto state = task->state();
        if (state != protocol::TaskState::stopped && state != protocol::TaskState::failed)
            running += task->spec().producers;
    }
    if (running + spec.producers > rules_.max_producers)
        return tl::unexpected(
            conflict(std::to_string(spec.producers) + " producers beside " + std::to_string(running) +
                     " are more than this agent's max_producers of " + std::to_string(rules_.max_producers)));
    return {};
}

tl::expected<TaskTable::TaskPtr, Error> TaskTable::claim(const std::string& id,
                                                         const protocol::TaskSpec& spec, bool& created) {
    std::unique_lock lock(mutex_);
    if (auto admitted = admit(spec.epoch); !admitted) return tl::unexpected(admitted.error());
    if (preparing_ >= kMostPreparing)
        return tl::unexpected(
            Error{ErrorCode::unavailable,
                  std::to_string(preparing_) + " tasks are being prepared already; try again later"});
    if (const auto found = tasks_.find(id); found != tasks_.end()) {
        if (!(found->second->spec() == spec))
            return tl::unexpected(
                conflict("the task '" + id + "' exists with another body; use a new trial id"));
        ++preparing_;
        return found->second;
    }
    if (tasks_.size() + graveyard_.size() >= kMostTasks)
        return tl::unexpected(
            conflict("this agent keeps " + std::to_string(kMostTasks) + " tasks; DELETE ended ones"));
    if (auto allowed = check_rules(spec); !allowed) return tl::unexpected(allowed.error());
    auto properties = client_properties(spec);
    if (!properties) return tl::unexpected(properties.error());
    // Refuses what librdkafka refuses before anything is made.
    if (auto conf = make_conf(*properties); !conf) return tl::unexpected(conf.error());
    auto task = std::make_shared<Task>(id, spec, std::move(*properties), allowed_until_ns_);
    tasks_.emplace(id, task);
    ++preparing_;
    created = true;
    graves_changed_.wait_for(lock, kGraveWait, [this] { return graveyard_.empty() || closing_; });
    return task;
}

tl::expected<TaskTable::Prepared, Error> TaskTable::prepare(const std::string& id,
                                                            const protocol::TaskSpec& spec) {
    bool created = false;
    auto task = claim(id, spec, created);
    if (!task) return tl::unexpected(task.error());
    const auto result = created ? (*task)->prepare() : (*task)->await_prepared();
    const std::lock_guard lock(mutex_);
    --preparing_;
    if (!result) {
        // What could not be prepared leaves nothing behind, so that the same call may be tried again.
        if (const auto found = tasks_.find(id); found != tasks_.end() && found->second == *task) {
            bury(*task, protocol::TaskState::failed, result.error().message);
            tasks_.erase(found);
        }
        return tl::unexpected(result.error().code == ErrorCode::cancelled ? conflict(result.error().message)
                                                                          : result.error());
    }
    if (created)
        spdlog::info("event=task_prepared trial={} epoch={} producers={} rate_each={} message_bytes={}", id,
                     spec.epoch, spec.producers, spec.rate_each, spec.message_bytes);
    return Prepared{created, report_of(**task, 0, 0)};
}

tl::expected<protocol::TaskReport, Error> TaskTable::start(const std::string& id,
                                                           const protocol::StartOrder& order) {
    const auto start_ns = monotonic_ns() + order.start_in_ms * kNsPerMs;
    const std::lock_guard lock(mutex_);
    if (auto admitted = admit(order.epoch); !admitted) return tl::unexpected(admitted.error());
    const auto task = find(id);
    if (!task) return tl::unexpected(task.error());
    if (lease_left_ms() <= 0)
        return tl::unexpected(conflict("there is no valid lease of epoch " + std::to_string(epoch_) +
                                       ": POST /v1/lease before starting the task '" + id + "'"));
    if (auto started = (*task)->start(start_ns); !started) return tl::unexpected(started.error());
    spdlog::info("event=task_started trial={} epoch={} start_in_ms={}", id, order.epoch, order.start_in_ms);
    return report_of(**task, 0, 0);
}

tl::expected<protocol::TaskReport, Error> TaskTable::stop(const std::string& id, std::int64_t epoch,
                                                          std::int64_t since) {
    TaskPtr task;
    {
        const std::lock_guard lock(mutex_);
        if (auto admitted = admit(epoch); !admitted) return tl::unexpected(admitted.error());
        auto found = find(id);
        if (!found) return tl::unexpected(found.error());
        task = *found;
        task->request_stop(protocol::TaskState::stopped, "stopped by the controller");
    }
    const bool drained = task->await_drained(kDrainWait);
    spdlog::info("event=task_stopped trial={} epoch={} drained={}", id, epoch, drained);
    const std::lock_guard lock(mutex_);
    return report_of(*task, since, kMostSeconds);
}

tl::expected<protocol::TaskReport, Error> TaskTable::report(const std::string& id, std::int64_t epoch,
                                                            std::int64_t since) {
    const std::lock_guard lock(mutex_);
    if (auto admitted = admit(epoch); !admitted) return tl::unexpected(admitted.error());
    const auto task = find(id);
    if (!task) return tl::unexpected(task.error());
    return report_of(**task, since, kMostSeconds);
}

tl::expected<void, Error> TaskTable::drop(const std::string& id, std::int64_t epoch) {
    const std::lock_guard lock(mutex_);
    if (auto admitted = admit(epoch); !admitted) return admitted;
    if (const auto found = tasks_.find(id); found != tasks_.end()) {
        bury(found->second, protocol::TaskState::stopped, "dropped by the controller");
        tasks_.erase(found);
    }
    return {};
}

tl::expected<double, Error> TaskTable::lease(const protocol::LeaseOrder& order) {
    const std::lock_guard lock(mutex_);
    if (auto admitted = admit(order.epoch); !admitted) return tl::unexpected(admitted.error());
    if (!leased_)
        spdlog::info("event=lease_granted epoch={} lease_ms={} controller=\"{}\"", order.epoch,
                     order.lease_ms, order.controller);
    leased_ = true;
    allowed_until_ns_ = monotonic_ns() + order.lease_ms * kNsPerMs;
    watch_changed_.notify_all();
    return lease_left_ms();
}

double TaskTable::lease_left_ms() const {
    if (!leased_) return 0;
    return std::max(0.0,
                    static_cast<double>(allowed_until_ns_ - monotonic_ns()) / static_cast<double>(kNsPerMs));
}

protocol::TaskReport TaskTable::report_of(const Task& task, std::int64_t since, std::int64_t most) const {
    auto report = task.report(since, most);
    report.load = load_;
    return report;
}

std::vector<protocol::TaskReport> TaskTable::list() const {
    const std::lock_guard lock(mutex_);
    std::vector<protocol::TaskReport> out;
    out.reserve(tasks_.size());
    for (const auto& [id, task] : tasks_) out.push_back(report_of(*task, 0, 0));
    return out;
}

protocol::HostFacts TaskTable::host() const {
    auto facts = host_facts();
    facts.agent_id = rules_.agent_id;
    if (rules_.max_producers > 0)
        facts.max_producers = facts.max_producers == 0 ? rules_.max_producers
                                                       : std::min(facts.max_producers, rules_.max_producers);
    const std::lock_guard lock(mutex_);
    facts.epoch = epoch_;
    facts.lease_remaining_ms = lease_left_ms();
    for (const auto& [id, task] : tasks_) facts.tasks.push_back(id);
    facts.load = load_;
    return facts;
}

AgentFigures TaskTable::figures() const {
    const std::lock_guard lock(mutex_);
    AgentFigures figures;
    figures.totals = buried_;
    const auto add = [&](const Task& task) {
        const auto totals = task.totals();
        figures.totals.sent += totals.sent;
        figures.totals.acked += totals.acked;
        figures.totals.failed += totals.failed;
    };
    for (const auto& [id, task] : tasks_) {
        ++figures.tasks[task->state()];
        add(*task);
    }
    for (const auto& task : graveyard_) add(*task);
    figures.load = load_;
    figures.lease_expiries = lease_expiries_;
    figures.lease_remaining_s = lease_left_ms() / 1'000;
    figures.epoch = epoch_;
    return figures;
}

}  // namespace brink::worker

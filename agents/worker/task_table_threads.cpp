#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "agents/worker/monotonic.hpp"
#include "agents/worker/process_load.hpp"
#include "agents/worker/task_table.hpp"

/// The two threads of a TaskTable: one keeps the time (lease, unstarted tasks, load), one closes dropped
/// tasks, which may take as long as a client's name lookup and must not hold up the first.
namespace brink::worker {
namespace {

constexpr std::int64_t kSampleNs = kNsPerSecond;
/// A task that nobody starts must not hold its connections for ever.
constexpr std::int64_t kUnstartedNs = 600 * kNsPerSecond;
constexpr std::chrono::milliseconds kShutDownWait{1'000};

std::chrono::steady_clock::time_point at(std::int64_t ns) {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
}

}  // namespace

void TaskTable::watch() {
    ProcessLoad meter;
    auto sample_at = monotonic_ns() + kSampleNs;
    std::unique_lock lock(mutex_);
    while (!ending_) {
        const auto until = leased_ ? std::min<std::int64_t>(sample_at, allowed_until_ns_) : sample_at;
        watch_changed_.wait_until(lock, at(until));
        const auto now = monotonic_ns();
        check_lease(now);
        if (now < sample_at) continue;
        check_unstarted(now);
        sample_at = now + kSampleNs;
        // Reading /proc may take a while beside thousands of descriptors; nobody waits for it.
        lock.unlock();
        const auto load = meter.sample();
        lock.lock();
        load_ = load;
    }
}

void TaskTable::check_lease(std::int64_t now_ns) {
    if (!leased_ || now_ns < allowed_until_ns_) return;
    leased_ = false;
    ++lease_expiries_;
    spdlog::warn("event=lease_lapsed epoch={} tasks={}", epoch_, tasks_.size());
    for (const auto& [id, task] : tasks_)
        task->request_stop(protocol::TaskState::failed,
                           "lease lapsed: the controller did not renew it in time");
}

void TaskTable::check_unstarted(std::int64_t now_ns) {
    for (const auto& [id, task] : tasks_)
        if (task->state() == protocol::TaskState::prepared && now_ns - task->made_ns() > kUnstartedNs)
            task->request_stop(protocol::TaskState::failed, "was not started within 600 s of being made");
}

void TaskTable::reap() {
    std::unique_lock lock(mutex_);
    for (;;) {
        graves_changed_.wait(lock, [this] { return !graveyard_.empty() || ending_; });
        if (graveyard_.empty()) return;
        const auto task = graveyard_.front();
        lock.unlock();
        task->close();
        lock.lock();
        const auto totals = task->totals();
        buried_.sent += totals.sent;
        buried_.acked += totals.acked;
        buried_.failed += totals.failed;
        graveyard_.erase(graveyard_.begin());
        graves_changed_.notify_all();
    }
}

void TaskTable::shut_down() {
    std::vector<TaskPtr> tasks;
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
        for (const auto& [id, task] : tasks_) tasks.push_back(task);
        tasks.insert(tasks.end(), graveyard_.begin(), graveyard_.end());
        for (const auto& task : tasks)
            task->request_stop(protocol::TaskState::stopped, "the agent is shutting down");
        leased_ = false;
        allowed_until_ns_ = 0;
    }
    graves_changed_.notify_all();
    const auto until = std::chrono::steady_clock::now() + kShutDownWait;
    for (const auto& task : tasks) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        task->await_drained(std::max(left, std::chrono::milliseconds{0}));
    }
}

}  // namespace brink::worker

#include "agents/worker/task.hpp"

#include <algorithm>
#include <limits>

#include "agents/worker/host_limits.hpp"
#include "agents/worker/monotonic.hpp"
#include "agents/worker/process_load.hpp"

namespace brink::worker {
namespace {

constexpr std::int64_t kConnectNs = 10 * kNsPerSecond;
constexpr std::int64_t kConnectEachNs = 20 * kNsPerMs;
constexpr int kMostSenders = 4;

int sender_count(int producers) {
    return std::clamp(std::min(static_cast<int>(usable_cpus()), producers), 1, kMostSenders);
}

int count_servers(const std::string& bootstrap_servers) {
    return 1 + static_cast<int>(std::ranges::count(bootstrap_servers, ','));
}

}  // namespace

Task::Task(std::string id, protocol::TaskSpec spec, std::map<std::string, std::string> properties,
           const std::atomic<std::int64_t>& allowed_until_ns)
    : made_ns_(monotonic_ns()) {
    orders_.trial = std::move(id);
    orders_.spec = std::move(spec);
    orders_.properties = std::move(properties);
    orders_.allowed_until_ns = &allowed_until_ns;
    orders_.end = [this](protocol::TaskState state, const std::string& reason) {
        request_stop(state, reason);
    };
    orders_.connected = [this](const tl::expected<void, Error>& result) {
        const std::lock_guard lock(mutex_);
        ++connected_;
        if (!result && !connect_error_) connect_error_ = result.error();
        changed_.notify_all();
    };
    orders_.drained = [this] {
        const std::lock_guard lock(mutex_);
        ++drained_;
        changed_.notify_all();
    };
}

Task::~Task() { close(); }

void Task::close() {
    request_stop(protocol::TaskState::stopped, "dropped");
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !preparing_; });
    }
    // Nobody changes the list any more: a preparation that comes after the end makes nothing.
    for (auto& sender : senders_) sender->join();
}

tl::expected<void, Error> Task::prepare() {
    {
        const std::lock_guard lock(mutex_);
        preparing_ = !ended_;
    }
    return conclude(connect());
}

tl::expected<void, Error> Task::conclude(tl::expected<void, Error> result) {
    if (!result)
        request_stop(protocol::TaskState::failed, "could not be prepared: " + result.error().message);
    const std::lock_guard lock(mutex_);
    prepared_ = result;
    preparing_ = false;
    changed_.notify_all();
    return result;
}

void Task::make_senders() {
    const auto& spec = orders_.spec;
    payloads_ = std::make_unique<PayloadPool>(spec.payload, static_cast<std::size_t>(spec.message_bytes));
    const int count = sender_count(spec.producers);
    std::vector<std::unique_ptr<Sender>> senders;
    senders.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) senders.push_back(std::make_unique<Sender>(orders_, *payloads_));
    for (int k = 0; k < spec.producers; ++k) senders[static_cast<std::size_t>(k % count)]->take(k);
    const std::lock_guard lock(mutex_);
    senders_ = std::move(senders);
}

tl::expected<void, Error> Task::connect() {
    if (orders_.stop)
        return tl::unexpected(Error{ErrorCode::cancelled, "the task was stopped before it connected"});
    const int producers = orders_.spec.producers;
    // A first look before anything is made; the second knows how many brokers there are.
    if (auto room = check_room(host_limits(), producers, count_servers(orders_.spec.bootstrap_servers));
        !room)
        return room;
    make_senders();
    const auto deadline = monotonic_ns() + kConnectNs + kConnectEachNs * producers;
    const auto brokers = senders_.front()->scout(deadline);
    if (!brokers) return tl::unexpected(brokers.error());
    if (auto room = check_room(host_limits(), producers - 1, *brokers); !room) return room;

    auto resolved = senders_.front()->resolved();
    std::unique_lock lock(mutex_);
    resolved_ = std::move(resolved);
    launched_ = senders_.size();
    for (auto& sender : senders_) sender->launch(deadline);
    // Each sender keeps the deadline itself and always reports.
    changed_.wait(lock, [this] { return connected_ >= launched_; });
    if (connect_error_) return tl::unexpected(*connect_error_);
    if (ended_) return tl::unexpected(Error{ErrorCode::cancelled, "the task was stopped while it connected"});
    return {};
}

tl::expected<void, Error> Task::await_prepared() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return prepared_.has_value(); });
    return *prepared_;
}

tl::expected<void, Error> Task::start(std::int64_t start_ns) {
    const std::lock_guard lock(mutex_);
    if (ended_)
        return tl::unexpected(Error{ErrorCode::conflict, "the task '" + id() + "' has ended (" + reason_ +
                                                             ") and cannot be started; use a new trial id"});
    if (!prepared_ || !*prepared_)
        return tl::unexpected(Error{ErrorCode::conflict,
                                    "the task '" + id() + "' is still connecting; wait for its preparation"});
    if (orders_.start_ns != 0) return {};
    const auto delay_ms = (start_ns - monotonic_ns()) / kNsPerMs;
    started_at_unix_ms_ = delay_ms + std::chrono::duration_cast<std::chrono::milliseconds>(
                                         std::chrono::system_clock::now().time_since_epoch())
                                         .count();
    orders_.start_ns = start_ns;
    for (auto& sender : senders_) sender->wake();
    return {};
}

void Task::request_stop(protocol::TaskState state, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    ended_ = state;
    reason_ = reason;
    ended_ns_ = monotonic_ns();
    orders_.stop = true;
    for (auto& sender : senders_) sender->wake();
}

bool Task::await_drained(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [this] { return drained_ >= launched_; });
}

protocol::TaskState Task::state_locked(std::int64_t now_ns) const {
    if (ended_) return *ended_;
    const std::int64_t start_ns = orders_.start_ns;
    if (start_ns == 0) return protocol::TaskState::prepared;
    return now_ns < start_ns ? protocol::TaskState::starting : protocol::TaskState::running;
}

protocol::TaskState Task::state() const {
    const std::lock_guard lock(mutex_);
    return state_locked(monotonic_ns());
}

protocol::TaskReport Task::report(std::int64_t since, std::int64_t most) const {
    const std::lock_guard lock(mutex_);
    const auto now = monotonic_ns();
    protocol::TaskReport report;
    report.trial = id();
    report.epoch = orders_.spec.epoch;
    report.state = state_locked(now);
    report.state_reason = ended_ ? reason_ : (prepared_ ? "" : "connecting");
    report.resolved_client = resolved_;
    report.started_at_unix_ms = started_at_unix_ms_;
    const std::int64_t start_ns = orders_.start_ns;
    if (start_ns != 0) report.elapsed_s = static_cast<double>((ended_ ? ended_ns_ : now) - start_ns) * 1e-9;

    std::map<std::string, protocol::DeliveryError> errors;
    std::uint64_t reported = 0;
    std::uint64_t sent = 0;
    std::int64_t settled = senders_.empty() || start_ns == 0 ? 0 : std::numeric_limits<std::int64_t>::max();
    for (const auto& sender : senders_) {
        const auto& tally = sender->tally();
        settled = std::min(settled, tally.settled());
        reported += tally.acked() + tally.failed();
        sent += tally.sent();
        report.longest_stall_ms =
            std::max(report.longest_stall_ms, static_cast<double>(tally.longest_stall_ns()) * 1e-6);
        tally.add_errors_to(errors);
    }
    report.in_flight = sent > reported ? sent - reported : 0;
    for (auto& [code, error] : errors) report.errors.push_back(std::move(error));

    const auto from = std::max<std::int64_t>(since, 0);
    for (auto second = from; second < settled && second - from < most; ++second) {
        auto& figures = report.seconds.emplace_back();
        figures.second = second;
        protocol::HistogramCounts lag;
        for (const auto& sender : senders_) sender->tally().add_to(figures, lag);
        figures.send_lag_p99_ms = quantile_us(lag, 0.99) / 1'000;
    }
    return report;
}

TaskTotals Task::totals() const {
    const std::lock_guard lock(mutex_);
    TaskTotals totals;
    for (const auto& sender : senders_) {
        totals.sent += sender->tally().sent();
        totals.acked += sender->tally().acked();
        totals.failed += sender->tally().failed();
    }
    return totals;
}

}  // namespace brink::worker

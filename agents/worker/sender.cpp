#include "agents/worker/sender.hpp"

#include <algorithm>
#include <cmath>

#include "agents/worker/monotonic.hpp"

namespace brink::worker {
namespace {

constexpr std::int64_t kTickNs = kNsPerMs;
/// With nothing due and nothing in flight the loop still looks this often at its orders and its clients'
/// events.
constexpr std::int64_t kIdleNs = 100 * kNsPerMs;
/// How long the reports of purged messages may take.
constexpr std::int64_t kDrainNs = 300 * kNsPerMs;

}  // namespace

Sender::Sender(SendOrders& orders, const PayloadPool& payloads)
    : orders_(orders),
      payloads_(payloads),
      tally_(static_cast<std::int64_t>(std::ceil(orders.spec.deadline_s)) + 1) {}

Sender::~Sender() { join(); }

void Sender::join() {
    const std::lock_guard lock(join_mutex_);
    if (thread_.joinable()) thread_.join();
}

void Sender::take(int k) {
    const auto& spec = orders_.spec;
    const auto place = static_cast<std::uint64_t>(spec.first_producer) + static_cast<std::uint64_t>(k);
    Pacer pacer(spec.rate_each, static_cast<double>(place) / spec.total_producers);
    const auto first_due = pacer.due_ns(0);
    lanes_.push_back(Lane{k, pacer, payloads_.cursor(place), first_due});
}

tl::expected<void, Error> Sender::create(Lane& lane) {
    auto producer = Producer::create(
        orders_.properties, orders_.spec.topic,
        "brink-" + orders_.trial + "-" + std::to_string(orders_.spec.first_producer + lane.index), tally_,
        // All producers meet the same brokers: one of them tells how fast those answer.
        &lane == &lanes_.front());
    if (!producer) return tl::unexpected(producer.error());
    lane.producer = std::move(*producer);
    return {};
}

tl::expected<int, Error> Sender::scout(std::int64_t deadline_ns) {
    auto& first = lanes_.front();
    if (auto made = create(first); !made) return tl::unexpected(made.error());
    return first.producer->connect(deadline_ns, orders_.stop);
}

void Sender::launch(std::int64_t connect_deadline_ns) {
    thread_ = std::thread([this, connect_deadline_ns] { run(connect_deadline_ns); });
}

void Sender::run(std::int64_t connect_deadline_ns) {
    try {
        const auto ready = connect(connect_deadline_ns);
        orders_.connected(ready);
        if (ready) {
            await_start();
            if (!orders_.stop) pace();
            close_books();
        }
        drain();
    } catch (const std::exception& fault) {
        orders_.connected(tl::unexpected(Error{ErrorCode::internal, fault.what()}));
        orders_.end(protocol::TaskState::failed, std::string("a sender thread failed: ") + fault.what());
    }
    orders_.drained();
    lanes_.clear();  // closes the connections; may take as long as a name lookup under way
}

tl::expected<void, Error> Sender::connect(std::int64_t deadline_ns) {
    // All are created first, so that they connect side by side while the first ones are waited for.
    for (auto& lane : lanes_) {
        if (orders_.stop) break;
        if (lane.producer) continue;
        if (auto made = create(lane); !made) return made;
    }
    for (auto& lane : lanes_) {
        if (orders_.stop)
            return tl::unexpected(Error{ErrorCode::cancelled, "the task was stopped while it connected"});
        if (auto connected = lane.producer->connect(deadline_ns, orders_.stop); !connected)
            return tl::unexpected(connected.error().within("producer " + std::to_string(lane.index)));
    }
    return {};
}

void Sender::await_start() {
    while (!orders_.stop && orders_.start_ns == 0) {
        timer_.wait_until(monotonic_ns() + kIdleNs);
        for (auto& lane : lanes_) lane.producer->poll();
    }
}

void Sender::pace() {
    const std::int64_t start_ns = orders_.start_ns;
    const auto deadline_ns = static_cast<std::int64_t>(orders_.spec.deadline_s * 1e9);
    tally_.start(start_ns);
    std::int64_t wake_at = start_ns;
    std::int64_t polled_all_at = 0;
    while (!orders_.stop) {
        timer_.wait_until(wake_at);
        const auto now = monotonic_ns();
        tally_.note_stall(now -
                          wake_at);  // before asking for a stop, which a stalled process may owe to the stall
        if (orders_.stop || now < start_ns) continue;
        // Asked here as well as by the lease's own thread: after a SIGCONT this one may run first.
        if (now >= *orders_.allowed_until_ns) {
            orders_.end(protocol::TaskState::failed, "lease lapsed: the controller did not renew it in time");
            break;
        }
        const auto elapsed = std::min(now - start_ns, deadline_ns);
        bool busy = false;
        for (auto& lane : lanes_) {
            if (orders_.stop) break;
            busy |= serve(lane, elapsed);
            busy |= lane.producer->in_flight() > 0;
        }
        if (now - polled_all_at >= kIdleNs) {
            for (auto& lane : lanes_) lane.producer->poll();
            polled_all_at = now;
        }
        settle(elapsed);
        if (elapsed >= deadline_ns) {
            orders_.end(protocol::TaskState::stopped, "deadline");
            break;
        }
        const auto next_tick = start_ns + (elapsed / kTickNs + 1) * kTickNs;
        std::int64_t next_due = elapsed + kIdleNs;
        for (const auto& lane : lanes_) next_due = std::min(next_due, lane.next_due_ns);
        wake_at = busy ? next_tick : std::max(next_tick, start_ns + std::min(next_due, deadline_ns));
    }
}

bool Sender::serve(Lane& lane, std::int64_t elapsed_ns) {
    if (lane.producer->in_flight() > 0) lane.producer->poll();
    if (lane.next_due_ns > elapsed_ns) return false;
    const auto step = lane.pacer.advance(elapsed_ns);
    count_range(lane, step.newly_due_from, step.due, &SecondSlot::scheduled);
    count_range(lane, step.given_up_from, step.next, &SecondSlot::unsent);
    send_due(lane, step, elapsed_ns);
    lane.next_due_ns = lane.pacer.due_ns(lane.pacer.next());
    return lane.pacer.next() < step.due;
}

void Sender::send_due(Lane& lane, const Pacer::Step& step, std::int64_t elapsed_ns) {
    for (auto j = step.next; j < step.next + step.sendable; ++j) {
        const auto due_ns = lane.pacer.due_ns(j);
        // A refused message keeps its payload: the cursor moves only when the library took it.
        auto cursor = lane.cursor;
        const auto result = lane.producer->send(payloads_.next(cursor), due_ns / 1'000);
        if (result.sent == Producer::Sent::queue_full) {
            // Those behind it would be refused as well; each counts once, at its first try.
            const auto from = std::max(j, lane.refused_up_to);
            const auto to = std::max(from, step.due);
            count_range(lane, from, to, &SecondSlot::queue_full);
            lane.refused_up_to = to;
            lane.pacer.sent(j - step.next);
            return;
        }
        if (result.sent == Producer::Sent::refused) {
            count_range(lane, j, j + 1, &SecondSlot::unsent);
            tally_.count_error(rd_kafka_err2name(result.error), rd_kafka_err2str(result.error));
            if (result.error == RD_KAFKA_RESP_ERR__FATAL)
                orders_.end(protocol::TaskState::failed,
                            "producer " + std::to_string(lane.index) + " met a fatal error of its client");
            continue;
        }
        lane.cursor = cursor;
        tally_.count_sent(due_ns, elapsed_ns);
    }
    lane.pacer.sent(step.sendable);
}

void Sender::count_range(const Lane& lane, std::uint64_t from, std::uint64_t to,
                         std::atomic<std::uint64_t> SecondSlot::* counter) {
    while (from < to) {
        const auto second = lane.pacer.due_ns(from) / kNsPerSecond;
        const auto end = std::min(to, lane.pacer.due_by((second + 1) * kNsPerSecond - 1));
        add_single_writer(tally_.slot(second).*counter, end - from);
        from = end;
    }
}

void Sender::settle(std::int64_t elapsed_ns) {
    auto settled_ns = elapsed_ns;
    for (const auto& lane : lanes_) settled_ns = std::min(settled_ns, lane.next_due_ns);
    tally_.settle(settled_ns / kNsPerSecond);
}

void Sender::close_books() {
    const std::int64_t start_ns = orders_.start_ns;
    if (start_ns == 0) return;
    const auto deadline_ns = static_cast<std::int64_t>(orders_.spec.deadline_s * 1e9);
    const auto elapsed = std::min(monotonic_ns() - start_ns, deadline_ns);
    if (elapsed < 0) return;
    // Whatever was due by now and has not gone out never will.
    for (auto& lane : lanes_) {
        const auto step = lane.pacer.advance(elapsed);
        count_range(lane, step.newly_due_from, step.due, &SecondSlot::scheduled);
        count_range(lane, step.given_up_from, step.due, &SecondSlot::unsent);
    }
    tally_.settle(elapsed / kNsPerSecond + 1);
}

void Sender::drain() {
    for (auto& lane : lanes_)
        if (lane.producer) lane.producer->purge();
    const auto until = monotonic_ns() + kDrainNs;
    const auto busy = [](const Lane& lane) { return lane.producer && lane.producer->in_flight() > 0; };
    while (std::ranges::any_of(lanes_, busy) && monotonic_ns() < until) {
        for (auto& lane : lanes_)
            if (busy(lane)) lane.producer->poll();
        timer_.wait_until(monotonic_ns() + kTickNs);
    }
}

}  // namespace brink::worker

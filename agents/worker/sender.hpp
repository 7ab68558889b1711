#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "agents/protocol/messages.hpp"
#include "agents/worker/pacer.hpp"
#include "agents/worker/payload_pool.hpp"
#include "agents/worker/producer.hpp"
#include "agents/worker/tally.hpp"
#include "agents/worker/wake_timer.hpp"

namespace brink::worker {

/// What a task shares with its sender threads. The task outlives them.
struct SendOrders {
    std::string trial;
    protocol::TaskSpec spec;
    std::map<std::string, std::string> properties;
    /// No message leaves after this instant, whatever else is or is not running: the lease.
    const std::atomic<std::int64_t>* allowed_until_ns = nullptr;
    std::atomic<bool> stop{false};
    std::atomic<std::int64_t> start_ns{0};  ///< 0: not yet
    /// Asks for the end of the whole task; called by a sender thread.
    std::function<void(protocol::TaskState state, const std::string& reason)> end;
    /// Called by a sender thread when its producers are connected, or cannot be.
    std::function<void(const tl::expected<void, Error>&)> connected;
    /// Called by a sender thread when nothing of it is on its way any more.
    std::function<void()> drained;
};

/// One thread that owns some of a task's producers from creating to destroying them: connects, waits for the
/// start, sends on schedule, and on stop purges and closes. The thread is the only one that touches its
/// producers.
class Sender {
  public:
    Sender(SendOrders& orders, const PayloadPool& payloads);
    /// Waits for the thread, which must have been told to stop.
    ~Sender();
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;

    /// Gives it producer `k` of the task, before `launch`. It may come with its client already made.
    void take(int k);
    /// Makes and connects the client of the first producer on the calling thread, before `launch`. Returns
    /// the number of brokers.
    tl::expected<int, Error> scout(std::int64_t deadline_ns);
    /// The first producer's effective properties; after `scout`, before `launch`.
    [[nodiscard]] std::map<std::string, std::string> resolved() const {
        return lanes_.front().producer->resolved();
    }
    void launch(std::int64_t connect_deadline_ns);
    /// Waits until its thread has closed its clients; the task must have been told to stop.
    void join();
    /// Makes it look at its orders now. Any thread.
    void wake() { timer_.wake(); }
    [[nodiscard]] const Tally& tally() const { return tally_; }

  private:
    /// One producer and where it stands.
    struct Lane {
        int index = 0;  ///< within the task
        Pacer pacer;
        PayloadPool::Cursor cursor;
        std::int64_t next_due_ns = 0;     ///< of its first unsent message
        std::uint64_t refused_up_to = 0;  ///< messages before this one have been counted as queue_full
        std::unique_ptr<Producer> producer{};
    };

    void run(std::int64_t connect_deadline_ns);
    tl::expected<void, Error> connect(std::int64_t deadline_ns);
    tl::expected<void, Error> create(Lane& lane);
    void await_start();
    void pace();
    /// Returns whether messages are waiting that could not go out yet.
    bool serve(Lane& lane, std::int64_t elapsed_ns);
    void send_due(Lane& lane, const Pacer::Step& step, std::int64_t elapsed_ns);
    void count_range(const Lane& lane, std::uint64_t from, std::uint64_t to,
                     std::atomic<std::uint64_t> SecondSlot::* counter);
    void settle(std::int64_t elapsed_ns);
    void close_books();
    void drain();

    SendOrders& orders_;
    const PayloadPool& payloads_;
    Tally tally_;
    WakeTimer timer_;
    std::vector<Lane> lanes_;
    std::mutex join_mutex_;
    std::thread thread_;
};

}  // namespace brink::worker

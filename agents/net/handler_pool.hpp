#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace brink::net {

/// Threads that run request handlers, which may block, from a bounded queue. Thread-safe.
class HandlerPool {
  public:
    /// A request for a handler. Exactly one of the two is called, once; neither may throw.
    struct Work {
        std::function<void()> run;
        std::function<void()> discard;  ///< the pool closed before a thread took it
    };

    HandlerPool(std::size_t threads, std::size_t capacity);
    /// Closes, then waits for the handlers under way.
    ~HandlerPool();
    HandlerPool(const HandlerPool&) = delete;
    HandlerPool& operator=(const HandlerPool&) = delete;

    /// False when the queue is full or the pool closed; then neither function is called.
    bool submit(Work work);
    /// Takes no more work and discards what no thread has taken. Does not wait. Idempotent.
    void close();

  private:
    void work();

    std::size_t capacity_;
    std::mutex mutex_{};
    std::condition_variable changed_{};
    std::deque<Work> queue_{};
    bool closed_ = false;
    std::vector<std::thread> threads_{};
};

}  // namespace brink::net

#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

namespace brink::storage {

/// A thread that runs jobs one after another, in the order they came. Thread-safe. Because a caller waits for
/// its job, the queue never holds more jobs than there are callers.
class StoreThread {
  public:
    StoreThread() : thread_([this] { loop(); }) {}
    /// Finishes what is queued, then joins. Nobody may call `run` any more.
    ~StoreThread();
    StoreThread(const StoreThread&) = delete;
    StoreThread& operator=(const StoreThread&) = delete;

    /// Runs `job` on the thread and returns what it returned, or throws what it threw. Never from a job.
    template <class Job>
    std::invoke_result_t<Job&> run(Job&& job) {
        if (std::this_thread::get_id() == thread_.get_id())
            throw std::logic_error("a job of the store's thread waits for another one");
        std::packaged_task<std::invoke_result_t<Job&>()> task([&job] { return job(); });
        auto result = task.get_future();
        post([&task] { task(); });
        return result.get();
    }

  private:
    void post(std::function<void()> job);
    void loop();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> jobs_;
    bool stopping_ = false;
    std::thread thread_;  // last: it uses the others
};

}  // namespace brink::storage

#include "agents/net/handler_pool.hpp"

#include <algorithm>
#include <utility>

namespace brink::net {

HandlerPool::HandlerPool(std::size_t threads, std::size_t capacity) : capacity_(capacity) {
    const std::size_t count = std::max<std::size_t>(threads, 1);
    threads_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
}

HandlerPool::~HandlerPool() {
    close();
    for (auto& thread : threads_) thread.join();
}

bool HandlerPool::submit(Work work) {
    {
        const std::lock_guard lock(mutex_);
        if (closed_ || queue_.size() >= capacity_) return false;
        queue_.push_back(std::move(work));
    }
    changed_.notify_one();
    return true;
}

void HandlerPool::close() {
    std::deque<Work> left;
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        left.swap(queue_);
    }
    changed_.notify_all();
    for (auto& work : left) work.discard();
}

void HandlerPool::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
        if (closed_) return;
        Work work = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        work.run();
        work = Work{};  // what it holds is released outside the lock
        lock.lock();
    }
}

}  // namespace brink::net

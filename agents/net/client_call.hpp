#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "agents/net/client_request.hpp"
#include "agents/net/http_client.hpp"

/// What HttpClient keeps of the calls under way.
namespace brink::net {

/// The answers of one call() or fan_out(). Shared, because the waiting thread and the reactor hold it at
/// once.
struct Batch {
    explicit Batch(std::size_t size) : results(size), missing(size) {}

    void set(std::size_t index, ClientResult result) {
        const std::lock_guard lock(mutex);
        results[index] = std::move(result);
        --missing;
        if (missing == 0) complete.notify_all();
    }
    std::vector<ClientResult> wait() {
        std::unique_lock lock(mutex);
        complete.wait(lock, [this] { return missing == 0; });
        std::vector<ClientResult> answers;
        answers.reserve(results.size());
        for (auto& result : results) answers.push_back(std::move(*result));
        return answers;
    }

    std::mutex mutex{};
    std::condition_variable complete{};
    std::vector<std::optional<ClientResult>> results;
    std::size_t missing;
};

/// One request under way; used on the reactor thread only. Shared between its coroutine and its flight: a
/// call that ran into its deadline is answered at once, while its coroutine may still wait for the resolver.
struct Call {
    Call(WireRequest request, std::shared_ptr<Batch> owner, std::size_t place)
        : wire(std::move(request)), batch(std::move(owner)), index(place) {}

    void close() {
        boost::system::error_code ignored;
        if (resolver) resolver->cancel();
        if (socket) static_cast<void>(socket->close(ignored));
    }

    WireRequest wire;
    std::shared_ptr<Batch> batch;
    std::size_t index;
    std::uint64_t flight = 0;
    bool done = false;
    std::optional<boost::asio::ip::tcp::resolver> resolver{};
    std::unique_ptr<boost::asio::ip::tcp::socket> socket{};
};

/// The calls of a batch and the deadline they share.
struct Flight {
    explicit Flight(boost::asio::io_context& io) : deadline(io) {}
    boost::asio::steady_timer deadline;
    std::vector<std::shared_ptr<Call>> calls{};
    std::size_t left = 0;
};

/// How one try on one connection went.
struct Attempt {
    std::optional<ClientResult> result{};
    bool stale = false;  ///< a kept connection broke before the first byte of an answer
};

}  // namespace brink::net

#include "agents/net/http_server.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <unordered_map>
#include <utility>

#include "agents/net/handler_pool.hpp"
#include "agents/net/http_session.hpp"
#include "agents/net/text.hpp"

namespace brink::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// How long accepting rests when it fails, mostly for want of descriptors: a loop without a rest would eat a
/// core.
constexpr std::chrono::milliseconds kAcceptRest{50};
/// Connections beyond the limit that may be told so at the same time; further ones are closed without a word.
constexpr std::size_t kRefusalsAtOnce = 64;

Error configuration_error(std::string message) { return Error{ErrorCode::configuration, std::move(message)}; }

tl::expected<tcp::endpoint, Error> parse_address(const std::string& address) {
    const std::string advice = "; give a literal IP and a port, such as 127.0.0.1:8080 or [::1]:8080";
    const std::size_t colon = address.rfind(':');
    if (colon == std::string::npos)
        return tl::unexpected(configuration_error("the address '" + address + "' has no port" + advice));
    std::string host = address.substr(0, colon);
    const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    error_code error;
    const asio::ip::address ip = asio::ip::make_address(host, error);
    if (error || ip.is_v6() != bracketed)
        return tl::unexpected(
            configuration_error("the address '" + address + "' holds no literal IP" + advice));
    const char* const begin = address.data() + colon + 1;
    const char* const end = address.data() + address.size();
    std::uint16_t port = 0;
    const auto [stopped, fault] = std::from_chars(begin, end, port);
    if (fault != std::errc{} || stopped != end || begin == end)
        return tl::unexpected(
            configuration_error("the address '" + address + "' has no port between 0 and 65535" + advice));
    return tcp::endpoint(ip, port);
}

std::string random_prefix() {
    std::random_device source;
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%08x-", static_cast<unsigned>(source()));
    return text.data();
}

std::string text_of(const tcp::endpoint& endpoint) {
    const std::string host = endpoint.address().to_string();
    const std::string port = std::to_string(endpoint.port());
    return endpoint.address().is_v6() ? "[" + host + "]:" + port : host + ":" + port;
}

}  // namespace

struct HttpServer::Impl {
    Impl(Handler handler, const ServerLimits& limits)
        : context{limits, std::move(handler), pool}, pool(limits.handler_threads, limits.queued_requests) {
        context.id_prefix = random_prefix();
    }

    asio::awaitable<void> accept_loop();
    void admit(tcp::socket socket);
    void forget(HttpSession* session);
    void begin_stop();

    // Destroyed from the bottom up: the pool waits for its handlers while what they use is still there.
    asio::io_context io{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
    tcp::acceptor acceptor{io};
    asio::steady_timer accept_rest{io};
    SessionContext context;
    HandlerPool pool;  // after the context that holds its reference: its threads use the handler to the end
    tcp::endpoint endpoint{};
    /// Reactor thread only.
    std::unordered_map<HttpSession*, std::shared_ptr<HttpSession>> sessions{};
    std::size_t refusals = 0;

    std::mutex mutex{};
    std::condition_variable ended{};
    std::size_t live = 0;   ///< sessions, guarded by mutex
    bool accepting = true;  ///< guarded by mutex
    std::mutex stop_mutex{};
    std::thread reactor{};
};

asio::awaitable<void> HttpServer::Impl::accept_loop() {
    bool reported = false;
    while (!context.stopping) {
        error_code error;
        auto token = asio::redirect_error(asio::use_awaitable, error);
        tcp::socket socket = co_await acceptor.async_accept(token);
        if (context.stopping) break;
        if (!error) {
            reported = false;
            admit(std::move(socket));
            continue;
        }
        // A client that gave up while it waited is no trouble of ours.
        if (error == asio::error::connection_aborted) continue;
        if (!reported) {
            spdlog::warn("event=accept_rest error=\"{}\" advice=\"raise the limit of open files\"",
                         error.message());
            reported = true;
        }
        accept_rest.expires_after(kAcceptRest);
        error_code ignored;
        auto rest_token = asio::redirect_error(asio::use_awaitable, ignored);
        co_await accept_rest.async_wait(rest_token);
    }
}

void HttpServer::Impl::admit(tcp::socket socket) {
    const bool full = sessions.size() - refusals >= context.limits.connections;
    if (full && refusals >= kRefusalsAtOnce) return;
    auto session = std::make_shared<HttpSession>(std::move(socket), context);
    HttpSession* const key = session.get();
    sessions.emplace(key, session);
    if (full) ++refusals;
    {
        const std::lock_guard lock(mutex);
        ++live;
    }
    auto serving = full ? session->run_refused() : session->run();
    asio::co_spawn(io, std::move(serving), [this, key, full](const std::exception_ptr& fault) {
        if (fault) {
            spdlog::error("event=http_session_failed error=\"{}\"", what_of(fault));
            key->abandon();
        }
        if (full) --refusals;
        forget(key);
    });
}

void HttpServer::Impl::forget(HttpSession* session) {
    sessions.erase(session);
    {
        const std::lock_guard lock(mutex);
        --live;
    }
    ended.notify_all();
}

void HttpServer::Impl::begin_stop() {
    context.stopping = true;
    error_code ignored;
    static_cast<void>(acceptor.close(ignored));
    accept_rest.cancel();
    pool.close();
    for (const auto& [key, session] : sessions) session->stop();
}

tl::expected<std::unique_ptr<HttpServer>, Error> HttpServer::listen(const std::string& address,
                                                                    Handler handler, ServerLimits limits) {
    const auto endpoint = parse_address(address);
    if (!endpoint) return tl::unexpected(endpoint.error());
    auto impl = std::make_unique<Impl>(std::move(handler), limits);
    const auto failed = [&](const error_code& error) {
        const std::string what =
            error == asio::error::address_in_use
                ? "address in use. Another program listens there: stop that one or choose another listen "
                  "address"
                : error.message() + ". Choose an address and a port of this host that this user may bind";
        return tl::unexpected(configuration_error("cannot listen on " + address + ": " + what));
    };
    error_code error;
    if (impl->acceptor.open(endpoint->protocol(), error)) return failed(error);
    if (impl->acceptor.set_option(tcp::acceptor::reuse_address(true), error)) return failed(error);
    if (impl->acceptor.bind(*endpoint, error)) return failed(error);
    if (impl->acceptor.listen(asio::socket_base::max_listen_connections, error)) return failed(error);
    impl->endpoint = impl->acceptor.local_endpoint(error);
    if (error) return failed(error);

    Impl* const self = impl.get();
    asio::co_spawn(self->io, self->accept_loop(), [](const std::exception_ptr& fault) {
        if (fault)
            spdlog::critical("event=accept_failed advice=\"restart; no further connection is accepted\"");
    });
    self->reactor = std::thread([self] { self->io.run(); });
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() { stop(std::chrono::milliseconds{0}); }

std::string HttpServer::address() const { return text_of(impl_->endpoint); }

std::uint16_t HttpServer::port() const { return impl_->endpoint.port(); }

void HttpServer::stop(std::chrono::milliseconds grace) {
    Impl& self = *impl_;
    const std::lock_guard one_at_a_time(self.stop_mutex);
    if (!self.reactor.joinable()) return;
    asio::post(self.io, [&self] {
        self.begin_stop();
        {
            const std::lock_guard lock(self.mutex);
            self.accepting = false;
        }
        self.ended.notify_all();
    });
    {
        std::unique_lock lock(self.mutex);
        self.ended.wait(lock, [&self] { return !self.accepting; });
        self.ended.wait_for(lock, grace, [&self] { return self.live == 0; });
    }
    asio::post(self.io, [&self] {
        for (const auto& [key, session] : self.sessions) session->abandon();
        self.work.reset();
    });
    self.reactor.join();
}

}  // namespace brink::net

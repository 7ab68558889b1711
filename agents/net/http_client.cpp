#include "agents/net/http_client.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <thread>
#include <unordered_map>
#include <utility>

#include "agents/net/client_call.hpp"
#include "agents/net/client_request.hpp"
#include "agents/net/connection_pool.hpp"
#include "agents/net/response_reader.hpp"
#include "agents/net/text.hpp"

namespace brink::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kReadBytes = std::size_t{16} * 1024;
/// Longer deadlines mean the same and would overflow the clock.
constexpr std::chrono::hours kLongestDeadline{24};

auto into(error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

Error unavailable(const std::string& peer, const std::string& what) {
    return Error{ErrorCode::unavailable, peer + ": " + what};
}

Error cancelled(const std::string& peer) {
    return Error{ErrorCode::cancelled, peer + ": the call was ended because the program shuts down"};
}

std::string advice_for(const error_code& error) {
    if (error == asio::error::connection_refused) return " (is it running, and are address and port right?)";
    if (error == asio::error::no_descriptors) return " (raise the limit of open files)";
    if (error == asio::error::host_not_found || error == asio::error::host_not_found_try_again)
        return " (check the host name)";
    return "";
}

}  // namespace

std::string ClientResponse::content_type() const {
    const std::string value = find_field(headers, "content-type").value_or("");
    std::string type = lower(value.substr(0, value.find(';')));
    while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.pop_back();
    return type;
}

std::string ClientResponse::content_encoding() const {
    std::string applied;
    for (const auto& [name, value] : headers) {
        if (!equal_ignoring_case(name, "content-encoding") || equal_ignoring_case(value, "identity"))
            continue;
        if (!applied.empty()) applied += ", ";
        applied += lower(value);
    }
    return applied;
}

struct HttpClient::Impl {
    explicit Impl(std::size_t idle_per_host) : pool(idle_per_host) {
        reactor = std::thread([this] { io.run(); });
    }

    std::vector<ClientResult> run(const ClientRequest* requests, std::size_t count,
                                  std::chrono::milliseconds deadline);
    void start(const std::vector<std::shared_ptr<Call>>& calls, Clock::time_point deadline);
    void finish(Call& call, ClientResult result);
    void end_flight(std::uint64_t number, ErrorCode code);
    void end_all();
    asio::awaitable<void> perform(std::shared_ptr<Call> call);
    asio::awaitable<void> exchange(Call& call, bool may_reuse, Attempt& attempt);
    asio::awaitable<error_code> resolve(Call& call, std::vector<tcp::endpoint>& endpoints);
    asio::awaitable<error_code> connect(Call& call);
    asio::awaitable<error_code> write(Call& call);

    asio::io_context io{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
    // Reactor thread only, these four.
    ConnectionPool pool;
    std::unordered_map<std::uint64_t, Flight> flights{};
    std::uint64_t last_flight = 0;
    bool aborted = false;
    std::atomic<bool> aborting{false};
    std::thread reactor{};
};

std::vector<ClientResult> HttpClient::Impl::run(const ClientRequest* requests, std::size_t count,
                                                std::chrono::milliseconds deadline) {
    if (count == 0) return {};
    const auto limited = std::min<std::chrono::milliseconds>(deadline, kLongestDeadline);
    const Clock::time_point end = Clock::now() + limited;
    const auto batch = std::make_shared<Batch>(count);
    std::vector<std::shared_ptr<Call>> calls;
    for (std::size_t i = 0; i < count; ++i) {
        auto wire = make_wire_request(requests[i]);
        if (!wire) {
            batch->set(i, tl::unexpected(wire.error()));
        } else if (aborting) {
            batch->set(i, tl::unexpected(cancelled(wire->peer)));
        } else {
            calls.push_back(std::make_shared<Call>(std::move(*wire), batch, i));
        }
    }
    if (!calls.empty()) asio::post(io, [this, calls = std::move(calls), end] { start(calls, end); });
    return batch->wait();
}

void HttpClient::Impl::start(const std::vector<std::shared_ptr<Call>>& calls, Clock::time_point deadline) {
    const std::uint64_t number = ++last_flight;
    for (const auto& call : calls) call->flight = number;
    Flight& flight = flights.try_emplace(number, io).first->second;
    flight.calls = calls;
    flight.left = calls.size();
    if (aborted || deadline <= Clock::now()) {
        end_flight(number, aborted ? ErrorCode::cancelled : ErrorCode::timed_out);
        return;
    }
    flight.deadline.expires_at(deadline);
    flight.deadline.async_wait([this, number](error_code error) {
        if (!error) end_flight(number, ErrorCode::timed_out);
    });
    for (const auto& call : calls) {
        asio::co_spawn(io, perform(call), [this, call](const std::exception_ptr& fault) {
            if (!fault) return;
            finish(*call,
                   tl::unexpected(Error{ErrorCode::internal, call->wire.peer + ": " + what_of(fault)}));
        });
    }
}

/// The first answer counts; the batch is woken when its last one is in.
void HttpClient::Impl::finish(Call& call, ClientResult result) {
    if (call.done) return;
    call.done = true;
    call.batch->set(call.index, std::move(result));
    const auto flight = flights.find(call.flight);
    if (flight != flights.end() && --flight->second.left == 0) flights.erase(flight);
}

void HttpClient::Impl::end_flight(std::uint64_t number, ErrorCode code) {
    const auto flight = flights.find(number);
    if (flight == flights.end()) return;
    const auto calls = flight->second.calls;  // the flight goes with its last call
    for (const auto& call : calls) {
        if (call->done) continue;
        const std::string& peer = call->wire.peer;
        Error error =
            code == ErrorCode::cancelled
                ? cancelled(peer)
                : Error{code, peer +
                                  ": no complete answer before the deadline; it is too slow, hangs, or "
                                  "the deadline is too short"};
        finish(*call, tl::unexpected(std::move(error)));
        call->close();
    }
}

void HttpClient::Impl::end_all() {
    aborted = true;
    std::vector<std::uint64_t> numbers;
    numbers.reserve(flights.size());
    for (const auto& [number, flight] : flights) numbers.push_back(number);
    for (const std::uint64_t number : numbers) end_flight(number, ErrorCode::cancelled);
    pool.clear();
}

asio::awaitable<void> HttpClient::Impl::perform(std::shared_ptr<Call> call) {
    Attempt attempt;
    co_await exchange(*call, true, attempt);
    if (attempt.stale && call->wire.idempotent && !call->done) {
        attempt = Attempt();
        co_await exchange(*call, false, attempt);
    }
    if (attempt.result) finish(*call, std::move(*attempt.result));
}

/// One try. Leaves no result when the call has been answered meanwhile (deadline, abort).
asio::awaitable<void> HttpClient::Impl::exchange(Call& call, bool may_reuse, Attempt& attempt) {
    const std::string& peer = call.wire.peer;
    if (may_reuse) call.socket = pool.take(peer);
    const bool reused = may_reuse && call.socket != nullptr;
    if (!reused) {
        const error_code refused = co_await connect(call);
        if (call.done) co_return;
        if (refused) {
            attempt.result = tl::unexpected(
                unavailable(peer, "cannot connect: " + refused.message() + advice_for(refused)));
            co_return;
        }
    }
    ClientResponse response;
    response.sent = Clock::now();
    // A peer may answer, with 413 for instance, and close before it has read everything: look for its answer
    // first.
    const error_code unsent = co_await write(call);
    ResponseReader reader(call.wire.to_head, call.wire.max_body_bytes, call.wire.encoded_body);
    std::string input;
    std::string chunk(kReadBytes, '\0');
    bool answering = false;
    ResponseReader::State state = ResponseReader::State::more;
    while (state == ResponseReader::State::more) {
        if (call.done) co_return;
        const auto space = asio::buffer(chunk);
        error_code error;
        auto token = into(error);
        const std::size_t count = co_await call.socket->async_read_some(space, token);
        if (call.done) co_return;
        if (error) {
            attempt.stale = reused && !answering;
            if (answering) {
                attempt.result = tl::unexpected(
                    Error{ErrorCode::bad_reply,
                          peer + ": the connection ended (" + error.message() + ") " + reader.progress()});
            } else {
                const error_code& first = unsent ? unsent : error;
                attempt.result = tl::unexpected(
                    unavailable(peer, "the connection ended without an answer: " + first.message()));
            }
            call.close();
            co_return;
        }
        answering = true;
        input.append(chunk, 0, count);
        state = reader.feed(input);
    }
    if (state == ResponseReader::State::failed) {
        attempt.result = tl::unexpected(Error{ErrorCode::bad_reply, peer + " " + reader.fault()});
        call.close();
        co_return;
    }
    response.received = Clock::now();
    response.status = reader.status();
    const bool keep = reader.keep_alive() && input.empty() && !unsent;
    response.headers = reader.take_headers();
    response.body = reader.take_body();
    attempt.result = std::move(response);
    if (keep) pool.give(peer, std::move(call.socket));
    call.socket.reset();
}

asio::awaitable<error_code> HttpClient::Impl::resolve(Call& call, std::vector<tcp::endpoint>& endpoints) {
    error_code error;
    const auto port = static_cast<std::uint16_t>(std::stoul(call.wire.port));
    const asio::ip::address literal = asio::ip::make_address(call.wire.host, error);
    if (!error) {
        endpoints.emplace_back(literal, port);
        co_return error_code();
    }
    error.clear();
    call.resolver.emplace(io);
    auto token = into(error);
    const tcp::resolver::results_type found =
        co_await call.resolver->async_resolve(call.wire.host, call.wire.port, token);
    for (const auto& entry : found) endpoints.push_back(entry.endpoint());
    co_return error;
}

/// Tries the addresses of the host one after the other, all under the deadline of the call.
asio::awaitable<error_code> HttpClient::Impl::connect(Call& call) {
    std::vector<tcp::endpoint> endpoints;
    error_code result = co_await resolve(call, endpoints);
    if (result) co_return result;
    result = asio::error::host_not_found;
    for (const auto& endpoint : endpoints) {
        if (call.done) co_return asio::error::operation_aborted;
        call.socket = std::make_unique<tcp::socket>(io);
        error_code error;
        static_cast<void>(call.socket->open(endpoint.protocol(), error));
        if (!error) {
            auto token = into(error);
            co_await call.socket->async_connect(endpoint, token);
        }
        result = error;
        if (!error) break;
    }
    if (!result) {
        error_code ignored;
        static_cast<void>(call.socket->set_option(tcp::no_delay(true), ignored));
    }
    co_return result;
}

asio::awaitable<error_code> HttpClient::Impl::write(Call& call) {
    std::string_view left = call.wire.text;
    error_code error;
    while (!left.empty() && !call.done) {
        const auto bytes = asio::buffer(left.data(), left.size());
        auto token = into(error);
        const std::size_t count = co_await call.socket->async_write_some(bytes, token);
        if (error) break;
        left.remove_prefix(count);
    }
    co_return error;
}

HttpClient::HttpClient(std::size_t idle_per_host) : impl_(std::make_unique<Impl>(idle_per_host)) {}

HttpClient::~HttpClient() {
    abort();
    impl_->work.reset();
    impl_->reactor.join();
}

ClientResult HttpClient::call(const ClientRequest& request, std::chrono::milliseconds deadline) {
    auto results = impl_->run(&request, 1, deadline);
    return std::move(results.front());
}

std::vector<ClientResult> HttpClient::fan_out(const std::vector<ClientRequest>& requests,
                                              std::chrono::milliseconds deadline) {
    return impl_->run(requests.data(), requests.size(), deadline);
}

void HttpClient::abort() {
    impl_->aborting = true;
    asio::post(impl_->io, [impl = impl_.get()] { impl->end_all(); });
}

}  // namespace brink::net

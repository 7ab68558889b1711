#include "agents/net/http_session.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <system_error>
#include <utility>

#include "agents/net/response_text.hpp"
#include "agents/net/router.hpp"
#include "agents/net/text.hpp"

namespace brink::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kReadBytes = std::size_t{16} * 1024;
constexpr std::size_t kWriteBytes = std::size_t{64} * 1024;
/// How long, and for how many bytes, a refused client is listened to, so that it reads the answer before a
/// reset.
constexpr std::chrono::milliseconds kDrainTime{1'000};
constexpr std::size_t kDrainBytes = std::size_t{4} * 1024 * 1024;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

auto into(error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

}  // namespace

HttpSession::HttpSession(asio::ip::tcp::socket socket, SessionContext& context)
    : socket_(std::move(socket)),
      context_(context),
      deadline_(socket_.get_executor()),
      reply_ready_(socket_.get_executor()) {
    error_code error;
    const auto peer = socket_.remote_endpoint(error);
    if (!error) remote_ = peer.address().to_string();
    static_cast<void>(socket_.set_option(asio::ip::tcp::no_delay(true), error));
}

asio::awaitable<void> HttpSession::run() {
    bool more = true;
    while (more) {
        more = co_await serve_one();
    }
    close();
}

asio::awaitable<void> HttpSession::run_refused() {
    phase_ = Phase::answering;
    const std::string detail = "the server has all the connections it accepts; try again later";
    co_await refuse(503, detail);
    close();
}

asio::awaitable<bool> HttpSession::serve_one() {
    phase_ = Phase::idle;
    if (context_.stopping) co_return false;
    if (input_.empty()) {
        set_deadline(context_.limits.idle_deadline);
        const bool begun = co_await fill();
        if (!begun) co_return false;
    }
    phase_ = Phase::reading;
    RequestReader reader(context_.limits.header_bytes, context_.limits.body_bytes);
    const bool complete = co_await read_request(reader);
    if (!complete) co_return false;

    phase_ = Phase::answering;
    HttpRequest request = reader.take();
    request.remote_address = remote_;
    request.request_id = context_.next_request_id();
    const bool to_head = request.method == "HEAD";
    const bool keep = reader.keep_alive();
    const bool answered = co_await wait_for_reply(request);
    if (!answered) co_return false;
    Reply reply = std::move(*reply_);
    reply_.reset();
    const auto wish = find_field(reply.response.headers, "connection");
    const bool asked_to_close = wish && equal_ignoring_case(*wish, "close");
    const bool last = !keep || context_.stopping || asked_to_close;
    const bool sent = co_await send(reply, to_head, last);
    if (!sent) co_return false;
    if (!last) co_return true;
    co_await drain();
    co_return false;
}

/// True with a complete request; false when the session is over (refusals have been answered).
asio::awaitable<bool> HttpSession::read_request(RequestReader& reader) {
    set_deadline(context_.limits.request_deadline);
    bool continued = false;
    RequestReader::State state = reader.feed(input_);
    while (state == RequestReader::State::head || state == RequestReader::State::body) {
        const bool body_next = state == RequestReader::State::body;
        if (body_next && !continued && reader.expects_continue() && input_.empty()) {
            continued = true;
            const bool told = co_await write(kContinue);
            if (!told) co_return false;
        }
        const bool grown = co_await fill();
        if (!grown && expired_) {
            const std::string detail = "the request was not complete after " +
                                       std::to_string(context_.limits.request_deadline.count()) +
                                       " ms; send it faster or in smaller parts";
            co_await refuse(408, detail);
        }
        if (!grown) co_return false;
        state = reader.feed(input_);
    }
    if (state == RequestReader::State::refused) {
        const RequestReader::Refusal& refusal = reader.refusal();
        co_await refuse(refusal.status, refusal.detail);
        co_return false;
    }
    clear_deadline();
    co_return true;
}

/// Has the request handled; true with reply_ set.
asio::awaitable<bool> HttpSession::wait_for_reply(HttpRequest& request) {
    request_ = std::move(request);
    reply_.reset();
    const auto self = shared_from_this();
    HandlerPool::Work work;
    work.run = [self] {
        // std::function must be copyable and a Reply is not: it travels behind a shared pointer.
        auto reply = std::make_shared<Reply>(self->handle());
        asio::post(self->socket_.get_executor(), [self, reply] { self->deliver(std::move(*reply)); });
    };
    work.discard = [self] {
        asio::post(self->socket_.get_executor(), [self] {
            self->deliver(prepare(problem(503, "the server is shutting down", self->request_)));
        });
    };
    reply_ready_.expires_at(asio::steady_timer::time_point::max());
    if (!context_.pool.submit(std::move(work))) {
        HttpResponse busy =
            problem(503, "all handlers are busy and the queue is full; try again later", request_);
        busy.headers.emplace_back("Retry-After", "1");
        deliver(prepare(std::move(busy)));
        co_return true;
    }
    error_code error;
    auto token = into(error);
    co_await reply_ready_.async_wait(token);
    co_return reply_.has_value() && !abandoned_;
}

/// On a handler thread.
HttpSession::Reply HttpSession::handle() const {
    std::string fault;
    try {
        HttpResponse response = context_.handler(request_);
        const std::optional<std::filesystem::path> file = response.file;
        try {
            check_fields(response);
        } catch (...) {
            std::error_code ignored;
            if (file) std::filesystem::remove(*file, ignored);
            throw;
        }
        return prepare(std::move(response));
    } catch (...) {
        fault = what_of(std::current_exception());
    }
    spdlog::error("event=http_handler_failed request={} method={} path=\"{}\" error=\"{}\"",
                  request_.request_id, request_.method, request_.path, fault);
    return prepare(problem(500, "the request failed inside brink; its log names this request_id", request_));
}

HttpSession::Reply HttpSession::prepare(HttpResponse response) {
    Reply reply;
    if (response.file) {
        const std::filesystem::path path = *response.file;
        std::error_code error;
        std::ifstream file(path, std::ios::binary);
        reply.body_bytes = std::filesystem::file_size(path, error);
        const bool usable = file.is_open() && !error;
        // An open file outlives its name, so nothing that happens to the client can leave it behind.
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
        if (!usable) throw std::runtime_error("the file to send cannot be read: " + path.string());
        reply.file = std::move(file);
    } else {
        reply.body_bytes = response.body.size();
    }
    reply.response = std::move(response);
    return reply;
}

void HttpSession::deliver(Reply reply) {
    if (abandoned_) return;
    reply_ = std::move(reply);
    reply_ready_.cancel();
}

asio::awaitable<bool> HttpSession::send(Reply& reply, bool to_head, bool close) {
    ResponseFraming framing;
    framing.body_bytes = reply.body_bytes;
    framing.request_id = request_.request_id;
    framing.to_head = to_head;
    framing.close = close;
    std::string head = response_head(reply.response, framing);
    const bool with_body = !to_head && has_body(reply.response.status);
    const bool in_one = with_body && !reply.file && reply.response.body.size() <= kWriteBytes;
    if (in_one) head += reply.response.body;
    set_deadline(context_.limits.request_deadline);
    const bool sent = co_await write(head);
    if (!sent || !with_body || in_one) co_return sent;
    if (reply.file) {
        const bool file_sent = co_await send_file(*reply.file, reply.body_bytes);
        co_return file_sent;
    }
    std::string_view left = reply.response.body;
    while (!left.empty()) {
        const std::string_view piece = left.substr(0, kWriteBytes);
        set_deadline(context_.limits.request_deadline);
        const bool piece_sent = co_await write(piece);
        if (!piece_sent) co_return false;
        left.remove_prefix(piece.size());
    }
    co_return true;
}

/// Reads on the reactor thread: pieces are small, and what is sent has just been written.
asio::awaitable<bool> HttpSession::send_file(std::ifstream& file, std::uint64_t bytes) {
    std::uint64_t left = bytes;
    while (left > 0) {
        chunk_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, kWriteBytes)));
        file.read(chunk_.data(), static_cast<std::streamsize>(chunk_.size()));
        if (static_cast<std::size_t>(file.gcount()) != chunk_.size()) {
            spdlog::error("event=http_file_short request={} missing_bytes={}", request_.request_id, left);
            co_return false;  // closing early tells the client that the body is truncated
        }
        set_deadline(context_.limits.request_deadline);
        const bool sent = co_await write(chunk_);
        if (!sent) co_return false;
        left -= chunk_.size();
    }
    co_return true;
}

/// Answers a request that never became one, and ends the connection.
asio::awaitable<void> HttpSession::refuse(int status, const std::string& detail) {
    phase_ = Phase::answering;
    request_ = HttpRequest();
    request_.request_id = context_.next_request_id();
    Reply reply = prepare(problem(status, detail, request_));
    const bool sent = co_await send(reply, false, true);
    if (sent) co_await drain();
}

/// One read. False at the end, on an error, and when the deadline has passed (expired_).
asio::awaitable<bool> HttpSession::fill() {
    if (expired_ || abandoned_) co_return false;
    chunk_.resize(kReadBytes);
    const auto space = asio::buffer(chunk_);
    error_code error;
    auto token = into(error);
    const std::size_t count = co_await socket_.async_read_some(space, token);
    if (error) co_return false;
    input_.append(chunk_, 0, count);
    co_return true;
}

/// All of it, under the deadline that is set.
asio::awaitable<bool> HttpSession::write(std::string_view bytes) {
    while (!bytes.empty()) {
        if (expired_ || abandoned_) co_return false;
        const auto left = asio::buffer(bytes.data(), bytes.size());
        error_code error;
        auto token = into(error);
        const std::size_t count = co_await socket_.async_write_some(left, token);
        if (error) co_return false;
        bytes.remove_prefix(count);
    }
    co_return true;
}

/// Closing with unread input resets the connection and can destroy the answer on its way; so the end of the
/// answer is announced, and the client gets a moment to close first.
asio::awaitable<void> HttpSession::drain() {
    error_code ignored;
    static_cast<void>(socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored));
    set_deadline(kDrainTime);
    std::size_t drained = 0;
    bool open = !context_.stopping;
    while (open) {
        input_.clear();
        open = co_await fill();
        drained += input_.size();
        if (drained > kDrainBytes) open = false;
    }
}

void HttpSession::set_deadline(std::chrono::milliseconds duration) {
    expired_ = false;
    const std::uint64_t number = ++deadline_number_;
    deadline_.expires_after(duration);
    deadline_.async_wait([self = shared_from_this(), number](error_code error) {
        // A wait that had already ended when the deadline was changed arrives with no error and an old
        // number.
        if (error || number != self->deadline_number_) return;
        self->expired_ = true;
        error_code ignored;
        static_cast<void>(self->socket_.cancel(ignored));
    });
}

void HttpSession::clear_deadline() {
    ++deadline_number_;
    expired_ = false;
    deadline_.cancel();
}

void HttpSession::stop() {
    if (phase_ != Phase::answering) abandon();
}

void HttpSession::abandon() {
    abandoned_ = true;
    close();
    reply_ready_.cancel();
}

void HttpSession::close() {
    clear_deadline();
    error_code ignored;
    static_cast<void>(socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored));
    static_cast<void>(socket_.close(ignored));
}

}  // namespace brink::net

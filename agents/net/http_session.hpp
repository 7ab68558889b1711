#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agents/net/handler_pool.hpp"
#include "agents/net/http_server.hpp"
#include "agents/net/request_reader.hpp"

namespace brink::net {

/// What the sessions of one server share. Only the reactor thread changes it.
struct SessionContext {
    ServerLimits limits;
    Handler handler;
    HandlerPool& pool;
    bool stopping = false;
    std::string id_prefix{};
    std::uint64_t last_id = 0;

    std::string next_request_id() { return id_prefix + std::to_string(++last_id); }
};

/// One connection of a server: reads requests one after the other, has each handled on the pool, writes the
/// answer. Everything but the handler runs on the reactor thread. Deadlines are one timer that cancels the
/// socket: unlike the timeout of a beast::tcp_stream it leaves the socket open, so that 408 can still be
/// sent. Shared, because the reactor and a handler thread hold it at once and either may let go last.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
  public:
    HttpSession(boost::asio::ip::tcp::socket socket, SessionContext& context);

    /// Serves until either side closes.
    boost::asio::awaitable<void> run();
    /// Answers 503 and closes: the server has all the connections it wants.
    boost::asio::awaitable<void> run_refused();
    /// The server stops: a connection without a request under way is closed now, others after their answer.
    void stop();
    /// Closes at once; an answer that a handler still prepares is dropped.
    void abandon();

  private:
    enum class Phase { idle, reading, answering };
    /// A response that is ready to be sent. Its file is open and already removed from its folder.
    struct Reply {
        HttpResponse response{};
        std::optional<std::ifstream> file{};
        std::uint64_t body_bytes = 0;
    };

    boost::asio::awaitable<bool> serve_one();
    boost::asio::awaitable<bool> read_request(RequestReader& reader);
    boost::asio::awaitable<bool> wait_for_reply(HttpRequest& request);
    boost::asio::awaitable<bool> send(Reply& reply, bool to_head, bool close);
    boost::asio::awaitable<bool> send_file(std::ifstream& file, std::uint64_t bytes);
    boost::asio::awaitable<void> refuse(int status, const std::string& detail);
    boost::asio::awaitable<bool> fill();
    boost::asio::awaitable<bool> write(std::string_view bytes);
    boost::asio::awaitable<void> drain();

    /// From now on the socket is cancelled once `duration` has passed, however often bytes arrive before.
    void set_deadline(std::chrono::milliseconds duration);
    void clear_deadline();
    Reply handle() const;
    static Reply prepare(HttpResponse response);
    void deliver(Reply reply);
    void close();

    boost::asio::ip::tcp::socket socket_;
    SessionContext& context_;
    std::string remote_{};
    boost::asio::steady_timer deadline_;
    std::uint64_t deadline_number_ = 0;
    bool expired_ = false;
    boost::asio::steady_timer reply_ready_;
    std::optional<Reply> reply_{};
    bool abandoned_ = false;
    Phase phase_ = Phase::idle;
    std::string input_{};
    std::string chunk_{};
    HttpRequest request_{};
};

}  // namespace brink::net

#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace brink::net {

/// Connections that are open and idle, by peer ("host:port"). At most `idle_per_host` of each are kept, and
/// none longer than kIdleTime. Not thread-safe: the client's reactor thread alone uses it.
class ConnectionPool {
  public:
    /// Below the idle deadline of HttpServer, so that rather this side closes.
    static constexpr std::chrono::seconds kIdleTime{60};

    explicit ConnectionPool(std::size_t idle_per_host) : idle_per_host_(idle_per_host) {}

    /// The most recently used one that still looks open; nullptr when there is none.
    std::unique_ptr<boost::asio::ip::tcp::socket> take(const std::string& peer);
    /// Keeps it, or closes it when there are enough.
    void give(const std::string& peer, std::unique_ptr<boost::asio::ip::tcp::socket> socket);
    void clear();

  private:
    struct Idle {
        std::unique_ptr<boost::asio::ip::tcp::socket> socket;
        std::chrono::steady_clock::time_point since;
    };
    /// Peers that are never called again would otherwise hold their sockets for ever.
    void drop_old();

    std::size_t idle_per_host_;
    std::unordered_map<std::string, std::vector<Idle>> idle_{};
    std::chrono::steady_clock::time_point swept_ = std::chrono::steady_clock::now();
};

}  // namespace brink::net

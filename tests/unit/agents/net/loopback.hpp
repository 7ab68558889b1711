#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

/// Plain blocking sockets on 127.0.0.1 for tests that must say exactly what goes over the wire.
namespace brink::test {

using Clock = std::chrono::steady_clock;

inline std::chrono::milliseconds since(Clock::time_point start) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
}

class RawConnection {
  public:
    explicit RawConnection(int descriptor) : fd_(descriptor) {}
    static RawConnection to(std::uint16_t port) {
        RawConnection connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        connection.connect(port);
        return connection;
    }
    RawConnection(RawConnection&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    RawConnection& operator=(RawConnection&&) = delete;
    ~RawConnection() {
        if (fd_ >= 0) ::close(fd_);
    }

    void connect(std::uint16_t port) const {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            throw std::runtime_error("connect");
    }
    /// False when the peer has gone.
    bool send(std::string_view bytes) const {
        while (!bytes.empty()) {
            const auto count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (count <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
        return true;
    }
    /// What arrives next; empty at the end of the stream, on a reset, or after `patience`.
    std::string receive(std::chrono::milliseconds patience = std::chrono::milliseconds{5'000}) const {
        pollfd poll{fd_, POLLIN, 0};
        if (::poll(&poll, 1, static_cast<int>(patience.count())) <= 0) return {};
        std::string bytes(65'536, '\0');
        const auto count = ::recv(fd_, bytes.data(), bytes.size(), 0);
        bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        return bytes;
    }
    /// Everything up to the end of the stream.
    std::string receive_all() const {
        std::string all;
        for (std::string part = receive(); !part.empty(); part = receive()) all += part;
        return all;
    }
    /// One response with Content-Length (or one head, for `to_head`), and nothing after it.
    std::string receive_response(bool to_head = false) const {
        std::string all;
        for (;;) {
            const auto end = all.find("\r\n\r\n");
            if (end != std::string::npos) {
                const auto field = all.find("Content-Length: ");
                const std::size_t length = field == std::string::npos || field > end || to_head
                                               ? 0
                                               : std::stoul(all.substr(field + 16));
                if (all.size() >= end + 4 + length) return all;
            }
            const std::string part = receive();
            if (part.empty()) return all;
            all += part;
        }
    }
    std::string read_request() const {
        std::string all;
        while (all.find("\r\n\r\n") == std::string::npos) {
            const std::string part = receive();
            if (part.empty()) return {};
            all += part;
        }
        return all;
    }
    void reset_on_close() const {
        const linger now{1, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }

  private:
    int fd_;
};

/// Accepts on a free port and gives each connection, with its number from 0, to a script on its own thread.
class ScriptedServer {
  public:
    using Script = std::function<void(const RawConnection&, int)>;
    explicit ScriptedServer(Script script) : script_(std::move(script)), fd_(listen_on_loopback(64)) {
        sockaddr_in address{};
        socklen_t size = sizeof address;
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        acceptor_ = std::thread([this] { accept(); });
    }
    ~ScriptedServer() {
        ::shutdown(fd_, SHUT_RDWR);
        acceptor_.join();
        for (auto& thread : scripts_) thread.join();
        ::close(fd_);
    }
    ScriptedServer(const ScriptedServer&) = delete;
    ScriptedServer& operator=(const ScriptedServer&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::string url(const std::string& path = "/") const {
        return "http://127.0.0.1:" + std::to_string(port_) + path;
    }
    [[nodiscard]] int connections() const { return connections_; }

    static int listen_on_loopback(int backlog) {
        const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
            ::listen(fd, backlog) != 0)
            throw std::runtime_error("listen");
        return fd;
    }

  private:
    void accept() {
        for (;;) {
            const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
            if (fd < 0) return;
            const int number = connections_++;
            scripts_.emplace_back([this, fd, number] {
                const RawConnection connection(fd);
                script_(connection, number);
            });
        }
    }

    Script script_;
    int fd_;
    std::uint16_t port_ = 0;
    std::atomic<int> connections_{0};
    std::vector<std::thread> scripts_{};
    std::thread acceptor_{};
};

}  // namespace brink::test

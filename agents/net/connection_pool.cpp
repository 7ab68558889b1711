#include "agents/net/connection_pool.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <iterator>
#include <utility>

namespace brink::net {
namespace {

using Clock = std::chrono::steady_clock;

/// An idle connection on which anything has arrived is closed by the peer, or out of step with it.
bool is_quiet(boost::asio::ip::tcp::socket& socket) {
    char byte = 0;
    const auto got = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace

std::unique_ptr<boost::asio::ip::tcp::socket> ConnectionPool::take(const std::string& peer) {
    drop_old();
    const auto found = idle_.find(peer);
    if (found == idle_.end()) return nullptr;
    auto& connections = found->second;
    while (!connections.empty()) {
        Idle idle = std::move(connections.back());
        connections.pop_back();
        if (is_quiet(*idle.socket)) return std::move(idle.socket);
    }
    return nullptr;
}

void ConnectionPool::give(const std::string& peer, std::unique_ptr<boost::asio::ip::tcp::socket> socket) {
    auto& connections = idle_[peer];
    if (connections.size() < idle_per_host_) connections.push_back(Idle{std::move(socket), Clock::now()});
}

void ConnectionPool::clear() { idle_.clear(); }

void ConnectionPool::drop_old() {
    const auto now = Clock::now();
    if (now - swept_ < kIdleTime / 4) return;
    swept_ = now;
    for (auto entry = idle_.begin(); entry != idle_.end();) {
        std::erase_if(entry->second, [now](const Idle& idle) { return now - idle.since > kIdleTime; });
        entry = entry->second.empty() ? idle_.erase(entry) : std::next(entry);
    }
}

}  // namespace brink::net

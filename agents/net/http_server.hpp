#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "agents/net/http_message.hpp"
#include "search/error.hpp"

namespace brink::net {

/// Limits of a server; each is enforced and answered with the status beside it.
struct ServerLimits {
    std::size_t body_bytes = std::size_t{1024} * 1024;   ///< 413
    std::size_t header_bytes = std::size_t{8} * 1024;    ///< 431
    std::size_t connections = 1'024;                     ///< further ones get 503 and are closed
    std::chrono::milliseconds request_deadline{10'000};  ///< from first byte to last of a request: 408
    std::chrono::milliseconds idle_deadline{75'000};     ///< between requests of a connection
    std::size_t handler_threads = 4;                     ///< handlers may block (on the store, on a broker)
    std::size_t queued_requests = 256;                   ///< waiting for a handler thread; more: 503
};

/// Called on one of the handler threads, several at once. It may throw: the caller then gets 500 with the
/// request id.
using Handler = std::function<HttpResponse(const HttpRequest&)>;

/// An HTTP/1.1 server on its own threads. Strict framing: exactly one Host, `Transfer-Encoding` only as
/// `chunked` and never beside Content-Length, no HTTP/1.0 chunking, no obs-fold: else 400 and close. A target
/// that holds `..` as a segment (also encoded), a NUL, or is not an absolute path: 400. Accept backs off when
/// descriptors run out.
class HttpServer {
  public:
    /// `address` is "host:port" with a literal IP (`[::1]:0` too); port 0 takes a free one. Errors:
    /// configuration
    /// ("address in use", with the address).
    static tl::expected<std::unique_ptr<HttpServer>, Error> listen(const std::string& address,
                                                                   Handler handler, ServerLimits limits = {});
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// "ip:port" it listens on.
    [[nodiscard]] std::string address() const;
    [[nodiscard]] std::uint16_t port() const;
    /// Stops accepting, lets handlers under way finish within `grace`, closes everything. Idempotent.
    void stop(std::chrono::milliseconds grace = std::chrono::milliseconds{2'000});

  private:
    struct Impl;
    explicit HttpServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace brink::net

#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "agents/net/http_message.hpp"
#include "search/error.hpp"

namespace brink::net {

/// One call to make. `url` is absolute, http:// only until TLS arrives (https:// answers invalid_input).
struct ClientRequest {
    std::string method = "GET";
    std::string url{};
    Headers headers{};
    std::string body{};
    std::string content_type = "application/json";
    /// Largest body accepted, after de-chunking; a body that comes encoded is counted as it came.
    std::size_t max_body_bytes = std::size_t{8} * 1024 * 1024;
    /// An idempotent call that fails on a reused connection is repeated once on a fresh one.
    bool idempotent = true;
    /// Sent as Accept-Encoding. When it is set, a body may come back encoded: as it was sent, for the caller
    /// to decode by `ClientResponse::content_encoding`. Otherwise any Content-Encoding is a bad reply.
    std::string accept_encoding{};
};

/// What came back, with when (monotonic), so that a sample can be timed by itself.
struct ClientResponse {
    int status = 0;
    Headers headers{};
    std::string body{};
    std::chrono::steady_clock::time_point sent{};      ///< first byte of the request
    std::chrono::steady_clock::time_point received{};  ///< last byte of the body
    /// Media type in lower case without parameters, "application/json"; empty when there is none.
    [[nodiscard]] std::string content_type() const;
    /// What the body is encoded with, "gzip", in lower case; several in the order in which they were applied,
    /// with ", " between them. Empty for identity.
    [[nodiscard]] std::string content_encoding() const;
};

using ClientResult = tl::expected<ClientResponse, Error>;

/// Plain blocking calls on top of one reactor thread with keep-alive connections. No redirects are followed.
/// Every call has a total deadline that holds against slow drips. A body that ends by closing without a
/// length is a failure (`bad_reply`), since nobody can tell it from a truncated one. Thread-safe: any number
/// of threads may call at once.
class HttpClient {
  public:
    /// Connections kept idle per host:port; the rest are closed after use.
    explicit HttpClient(std::size_t idle_per_host = 4);
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    /// One call. Errors: invalid_input (url), unavailable (refused, reset, DNS), timed_out, bad_reply
    /// (framing, size). A status of 400 and more is *not* an error here.
    ClientResult call(const ClientRequest& request, std::chrono::milliseconds deadline);
    /// Many calls side by side under one deadline; answers in the order of the requests.
    std::vector<ClientResult> fan_out(const std::vector<ClientRequest>& requests,
                                      std::chrono::milliseconds deadline);
    /// Ends all calls under way with `cancelled`; later ones too. For shutting down.
    void abort();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace brink::net

#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "agents/net/http_message.hpp"

namespace brink::net {

/// Reads one request out of bytes as they arrive, with the strict framing that HttpServer promises. No
/// sockets, no clock: the session feeds it and enforces the deadline. Not thread-safe.
class RequestReader {
  public:
    enum class State {
        head,      ///< the head is not complete yet: feed more
        body,      ///< the head is fine, the body is not complete yet: feed more
        complete,  ///< take() the request; bytes of the next one may remain in the input
        refused    ///< answer refusal() and close: where the next request would begin is unknown
    };
    struct Refusal {
        int status = 400;
        std::string detail{};
    };

    RequestReader(std::size_t header_bytes, std::size_t body_bytes);
    ~RequestReader();
    RequestReader(const RequestReader&) = delete;
    RequestReader& operator=(const RequestReader&) = delete;

    /// Parses what it can and removes that from `input`. Call again with the same string, grown.
    State feed(std::string& input);
    /// Whether the client waits for `100 Continue` before it sends the body; valid in State::body.
    [[nodiscard]] bool expects_continue() const;
    /// Whether the client wants the connection kept; valid in State::complete.
    [[nodiscard]] bool keep_alive() const;
    [[nodiscard]] const Refusal& refusal() const;
    /// The request without remote_address and request_id; once, in State::complete.
    HttpRequest take();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace brink::net

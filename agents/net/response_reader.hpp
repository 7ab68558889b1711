#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "agents/net/http_message.hpp"

namespace brink::net {

/// Reads one response out of bytes as they arrive; interim 1xx responses are skipped. A body must be
/// delimited by Content-Length or chunks, and carry no content coding where none was asked for. No sockets,
/// no clock. Not thread-safe.
class ResponseReader {
  public:
    enum class State { more, complete, failed };

    /// `to_head`: the request was HEAD, so no body follows whatever the head says. `encoded_body`: one with a
    /// Content-Encoding is taken, as it comes.
    ResponseReader(bool to_head, std::size_t max_body_bytes, bool encoded_body);
    ~ResponseReader();
    ResponseReader(const ResponseReader&) = delete;
    ResponseReader& operator=(const ResponseReader&) = delete;

    /// Parses what it can and removes that from `input`. Call again with the same string, grown.
    State feed(std::string& input);
    /// What is wrong, as the end of a sentence; after State::failed.
    [[nodiscard]] const std::string& fault() const;
    /// How far it came, for "the connection was closed …"; in State::more.
    [[nodiscard]] std::string progress() const;
    /// Whether the peer keeps the connection open; in State::complete.
    [[nodiscard]] bool keep_alive() const;
    [[nodiscard]] int status() const;
    Headers take_headers();
    std::string take_body();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace brink::net

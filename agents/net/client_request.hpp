#pragma once
#include <cstddef>
#include <string>
#include <tl/expected.hpp>

#include "agents/net/http_client.hpp"
#include "search/error.hpp"

namespace brink::net {

/// A ClientRequest made ready to send: where to, and the bytes.
struct WireRequest {
    std::string host{};  ///< literal IP without brackets, or a name
    std::string port{};  ///< decimal
    std::string peer{};  ///< "host:port" with brackets around IPv6: the key of the pool, and for messages
    std::string text{};  ///< head and body
    std::size_t max_body_bytes = 0;
    bool to_head = false;
    bool encoded_body = false;  ///< the response may carry a Content-Encoding
    bool idempotent = false;
};

/// Checks and serialises a request. Errors: invalid_input with what to change in the URL, the method or the
/// headers. Pure.
tl::expected<WireRequest, Error> make_wire_request(const ClientRequest& request);

}  // namespace brink::net

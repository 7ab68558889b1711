#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "agents/net/http_message.hpp"

namespace brink::net {

/// Throws std::invalid_argument when a response cannot be sent as it is: a status outside 200–599, a field
/// name that is no token, or a field value with CR, LF or another control character (which would let a value
/// start a second header, or a second response). Pure.
void check_fields(const HttpResponse& response);

/// What the head of a response says besides the response itself.
struct ResponseFraming {
    std::uint64_t body_bytes = 0;  ///< of the body, or what it would be for a HEAD
    std::string request_id{};
    bool to_head = false;  ///< a HEAD may state the Content-Length that a GET would have had
    bool close = false;
};

/// The status line and headers, up to and with the empty line. Framing fields (Content-Length,
/// Transfer-Encoding, Connection, Date, X-Request-Id) are the server's own: the handler's are left out.
/// `Cache-Control: no-store` and `X-Content-Type-Options: nosniff` are added unless the handler set them.
/// Expects a checked response. Pure.
std::string response_head(const HttpResponse& response, const ResponseFraming& framing);

/// Whether a status has a body at all.
bool has_body(int status);

}  // namespace brink::net

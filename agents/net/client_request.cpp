#include "agents/net/client_request.hpp"

#include <algorithm>
#include <array>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include "agents/net/text.hpp"

namespace brink::net {
namespace {

Error invalid(std::string message) { return Error{ErrorCode::invalid_input, std::move(message)}; }

bool is_own_field(std::string_view name) {
    static constexpr std::array<std::string_view, 7> kOwn{
        "host",         "content-length", "transfer-encoding", "connection",
        "content-type", "expect",         "accept-encoding"};
    return std::any_of(kOwn.begin(), kOwn.end(),
                       [&](std::string_view own) { return equal_ignoring_case(own, name); });
}

/// Decimal, 1 to 65535; 80 where the URL has none. Empty when it is out of range.
std::string port_of(const boost::urls::url_view& url) {
    const std::string text(url.port());
    if (text.empty()) return "80";
    std::uint16_t port = 0;
    const auto [stopped, fault] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (fault != std::errc{} || stopped != text.data() + text.size() || port == 0) return "";
    return std::to_string(port);
}

/// Fills host, port, peer; returns the target.
tl::expected<std::string, Error> read_url(const std::string& text, WireRequest& wire) {
    const auto parsed = boost::urls::parse_uri(text);
    if (!parsed)
        return tl::unexpected(invalid(
            "the URL is not valid (RFC 3986); give it as http://host:port/path, with special characters "
            "percent-encoded"));
    const boost::urls::url_view& url = *parsed;
    if (url.has_userinfo())
        return tl::unexpected(invalid(
            "the URL holds a user name or password; take it out and send an Authorization header instead"));
    const std::string scheme = lower(std::string(url.scheme()));
    if (scheme == "https")
        return tl::unexpected(
            invalid("'" + text +
                    "': https is not supported yet by this build; use http:// on a trusted network, or "
                    "put a TLS-terminating proxy beside the peer and address that"));
    if (scheme != "http")
        return tl::unexpected(invalid("'" + text + "': the scheme must be http, not '" + scheme + "'"));
    wire.host = url.host_address();
    if (wire.host.empty() || !is_field_value(wire.host) || wire.host.find(' ') != std::string::npos)
        return tl::unexpected(invalid("'" + text + "': the URL names no usable host"));
    // Boost.URL 1.81 takes the `x` of `host:x` for a path without a slash.
    const std::string path(url.encoded_path());
    wire.port = path.empty() || path.front() == '/' ? port_of(url) : "";
    if (wire.port.empty())
        return tl::unexpected(invalid("'" + text + "': the port must be a number between 1 and 65535"));
    const bool ipv6 = url.host_type() == boost::urls::host_type::ipv6;
    wire.peer = ipv6 ? std::string("[").append(wire.host).append("]") : lower(wire.host);
    wire.peer.append(":").append(wire.port);
    std::string target(url.encoded_target());
    if (target.empty() || target.front() != '/') target.insert(target.begin(), '/');
    return target;
}

}  // namespace

tl::expected<WireRequest, Error> make_wire_request(const ClientRequest& request) {
    WireRequest wire;
    const auto target = read_url(request.url, wire);
    if (!target) return tl::unexpected(target.error());
    if (!is_token(request.method))
        return tl::unexpected(invalid("the method '" + request.method + "' is no HTTP method"));
    wire.max_body_bytes = request.max_body_bytes;
    wire.to_head = request.method == "HEAD";
    wire.encoded_body = !request.accept_encoding.empty();
    wire.idempotent = request.idempotent;

    std::string& text = wire.text;
    text = request.method + " " + *target + " HTTP/1.1\r\nHost: " + wire.peer + "\r\nUser-Agent: brink\r\n";
    for (const auto& [name, value] : request.headers) {
        if (!is_token(name) || !is_field_value(value))
            return tl::unexpected(invalid("the header '" + (is_token(name) ? name : std::string("?")) +
                                          "' holds characters that a header must not hold"));
        if (is_own_field(name))
            return tl::unexpected(
                invalid("the header '" + name + "' is set by the client itself; leave it out"));
        text.append(name).append(": ").append(value).append("\r\n");
    }
    if (wire.encoded_body) {
        if (!is_field_value(request.accept_encoding))
            return tl::unexpected(
                invalid("the accepted encodings hold characters that a header must not hold"));
        text += "Accept-Encoding: " + request.accept_encoding + "\r\n";
    }
    static constexpr std::array<std::string_view, 3> kWithBody{"POST", "PUT", "PATCH"};
    const bool may_carry = std::find(kWithBody.begin(), kWithBody.end(), request.method) != kWithBody.end();
    if (!request.body.empty()) {
        if (!is_field_value(request.content_type))
            return tl::unexpected(invalid("the content type holds characters that a header must not hold"));
        text += "Content-Type: " + request.content_type + "\r\n";
    }
    if (!request.body.empty() || may_carry)
        text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
    text += "\r\n";
    text += request.body;
    return wire;
}

}  // namespace brink::net

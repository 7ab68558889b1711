#include "agents/net/request_reader.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <limits>
#include <utility>

#include "agents/net/request_target.hpp"
#include "agents/net/text.hpp"

namespace brink::net {
namespace {

namespace http = boost::beast::http;

/// Faults of the raw head that Beast mends silently (obs-fold) or that make two parsers disagree (bare CR or
/// LF).
const char* raw_fault(std::string_view head) {
    for (std::size_t i = 0; i < head.size(); ++i) {
        if (head[i] == '\0') return "the head of the request holds a NUL";
        const bool ends_line = head[i] == '\n';
        if (ends_line && (i == 0 || head[i - 1] != '\r'))
            return "a line of the head ends with a bare LF; it must end with CR LF";
        if (head[i] == '\r' && (i + 1 == head.size() || head[i + 1] != '\n'))
            return "the head holds a CR without LF";
        if (ends_line && i + 1 < head.size() && (head[i + 1] == ' ' || head[i + 1] == '\t'))
            return "a header line is folded (obs-fold); send each header on one line";
    }
    return nullptr;
}

bool is_upper_method(std::string_view method) {
    return is_token(method) &&
           std::none_of(method.begin(), method.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

struct RequestReader::Impl {
    Impl(std::size_t header_limit, std::size_t body_limit)
        : header_bytes(header_limit), body_bytes(body_limit) {
        // The header limit is enforced here, on the raw head; Beast's own is set out of the way.
        parser.header_limit(std::numeric_limits<std::uint32_t>::max());
        parser.body_limit(body_limit);
        parser.eager(true);
    }

    State refuse(int status, std::string detail) {
        refusal = Refusal{status, std::move(detail)};
        state = State::refused;
        return state;
    }
    State refuse_body() {
        return refuse(413, "the body is larger than the limit of " + std::to_string(body_bytes) + " bytes");
    }
    State read_head(std::string& input);
    State read_body(std::string& input);
    State check_fields();

    std::size_t header_bytes;
    std::size_t body_bytes;
    http::request_parser<http::string_body> parser{};
    State state = State::head;
    std::size_t searched = 0;
    bool wants_continue = false;
    Headers headers{};
    RequestTarget target{};
    Refusal refusal{};
};

RequestReader::State RequestReader::Impl::read_head(std::string& input) {
    // RFC 9112, 2.2: an empty line before the request line is skipped.
    while (searched == 0 && input.size() >= 2 && input[0] == '\r' && input[1] == '\n') input.erase(0, 2);
    const std::size_t end = input.find("\r\n\r\n", searched);
    if (end == std::string::npos ? input.size() > header_bytes : end + 4 > header_bytes)
        return refuse(431, "the head of the request is larger than the limit of " +
                               std::to_string(header_bytes) + " bytes; send fewer or shorter headers");
    if (end == std::string::npos) {
        searched = input.size() < 4 ? 0 : input.size() - 3;
        return State::head;
    }
    const std::string head = input.substr(0, end + 4);
    input.erase(0, end + 4);
    if (const char* fault = raw_fault(head)) return refuse(400, fault);

    boost::beast::error_code error;
    parser.put(boost::asio::buffer(head), error);
    if (error == http::error::body_limit) return refuse_body();
    if (error == http::error::bad_version) return refuse(400, "the HTTP version must be 1.1 or 1.0");
    if (error) return refuse(400, "the head of the request is malformed: " + error.message());
    if (!parser.is_header_done()) return refuse(400, "the head of the request is malformed");
    return check_fields();
}

RequestReader::State RequestReader::Impl::check_fields() {
    const auto& message = parser.get();
    std::size_t hosts = 0;
    std::size_t lengths = 0;
    std::size_t encodings = 0;
    for (const auto& field : message) {
        const std::string name(field.name_string());
        const std::string value(field.value());
        if (field.name() == http::field::host) ++hosts;
        if (field.name() == http::field::content_length) {
            ++lengths;
            if (value.find(',') != std::string::npos) ++lengths;
        }
        if (field.name() == http::field::transfer_encoding) {
            ++encodings;
            if (!equal_ignoring_case(value, "chunked"))
                return refuse(400, "Transfer-Encoding must be exactly 'chunked'");
        }
        if (field.name() == http::field::expect) {
            if (!equal_ignoring_case(value, "100-continue"))
                return refuse(417, "Expect may only be '100-continue'");
            wants_continue = message.version() == 11;
        }
        headers.emplace_back(name, value);
    }
    if (hosts != 1)
        return refuse(400, "the request must carry exactly one Host header, not " + std::to_string(hosts));
    if (lengths > 1) return refuse(400, "the request must carry at most one Content-Length");
    if (encodings > 1) return refuse(400, "the request must carry at most one Transfer-Encoding");
    if (encodings == 1 && lengths > 0)
        return refuse(400, "Transfer-Encoding and Content-Length must not come together");
    if (encodings == 1 && message.version() != 11)
        return refuse(400, "HTTP/1.0 has no Transfer-Encoding; send Content-Length");
    if (!is_upper_method(std::string(message.method_string())))
        return refuse(400, "the method must be in upper case");
    auto decoded = decode_target(std::string(message.target()));
    if (!decoded) return refuse(400, decoded.error());
    target = std::move(*decoded);
    return parser.is_done() ? State::complete : State::body;
}

RequestReader::State RequestReader::Impl::read_body(std::string& input) {
    boost::beast::error_code error;
    while (!input.empty() && !parser.is_done()) {
        const std::size_t used = parser.put(boost::asio::buffer(input), error);
        input.erase(0, used);
        if (error == http::error::need_more) break;
        if (error == http::error::body_limit) return refuse_body();
        if (error) return refuse(400, "the body is malformed: " + error.message());
        if (used == 0) break;
    }
    if (parser.is_done()) return State::complete;
    // What is left unparsed is the start of a chunk header or trailer; nothing honest makes those long.
    if (input.size() > header_bytes)
        return refuse(431, "a chunk header or trailer is larger than the limit of " +
                               std::to_string(header_bytes) + " bytes");
    return State::body;
}

RequestReader::RequestReader(std::size_t header_bytes, std::size_t body_bytes)
    : impl_(std::make_unique<Impl>(header_bytes, body_bytes)) {}
RequestReader::~RequestReader() = default;

RequestReader::State RequestReader::feed(std::string& input) {
    if (impl_->state == State::head) impl_->state = impl_->read_head(input);
    if (impl_->state == State::body) impl_->state = impl_->read_body(input);
    return impl_->state;
}

bool RequestReader::expects_continue() const { return impl_->wants_continue; }
bool RequestReader::keep_alive() const {
    // Keep-alive of HTTP/1.0 is an extension that nothing here needs.
    return impl_->parser.get().version() == 11 && impl_->parser.keep_alive();
}
const RequestReader::Refusal& RequestReader::refusal() const { return impl_->refusal; }

HttpRequest RequestReader::take() {
    auto message = impl_->parser.release();
    HttpRequest request;
    request.method = std::string(message.method_string());
    request.path = std::move(impl_->target.path);
    request.query = std::move(impl_->target.query);
    request.headers = std::move(impl_->headers);
    request.body = std::move(message.body());
    return request;
}

}  // namespace brink::net

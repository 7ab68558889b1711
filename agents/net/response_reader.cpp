#include "agents/net/response_reader.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <utility>

#include "agents/net/text.hpp"

namespace brink::net {
namespace {

namespace http = boost::beast::http;

constexpr std::uint32_t kHeaderBytes = 64U * 1024;
constexpr int kInterimResponses = 8;

}  // namespace

struct ResponseReader::Impl {
    Impl(bool head, std::size_t limit, bool encoded)
        : to_head(head), max_body_bytes(limit), encoded_body(encoded) {
        restart();
    }

    void restart() {
        parser.emplace();
        parser->header_limit(kHeaderBytes);
        parser->body_limit(max_body_bytes);
        parser->eager(false);
        parser->skip(to_head);
        head_checked = false;
    }
    State fail(std::string reason) {
        fault = std::move(reason);
        state = State::failed;
        return state;
    }
    State check_head();

    bool to_head;
    std::size_t max_body_bytes;
    bool encoded_body;
    std::optional<http::response_parser<http::string_body>> parser{};
    bool head_checked = false;
    int interim = 0;
    State state = State::more;
    std::string fault{};
    Headers headers{};
};

ResponseReader::State ResponseReader::Impl::check_head() {
    head_checked = true;
    const auto& message = parser->get();
    const int status = message.result_int();
    if (status == 101) return fail("switched protocols, which was not asked for");
    if (status < 200) {
        if (++interim > kInterimResponses) return fail("sent too many interim (1xx) responses");
        restart();
        return State::more;
    }
    headers.clear();
    std::size_t lengths = 0;
    for (const auto& field : message) {
        const std::string name(field.name_string());
        const std::string value(field.value());
        if (field.name() == http::field::content_length) ++lengths;
        if (field.name() == http::field::transfer_encoding && !equal_ignoring_case(value, "chunked"))
            return fail("used Transfer-Encoding '" + value + "'; only 'chunked' is understood");
        if (field.name() == http::field::transfer_encoding && message.version() != 11)
            return fail("used Transfer-Encoding in an HTTP/1.0 response");
        if (field.name() == http::field::content_encoding && !encoded_body &&
            !equal_ignoring_case(value, "identity"))
            return fail("used Content-Encoding '" + value + "', which was not asked for");
        headers.emplace_back(name, value);
    }
    if (lengths > 1) return fail("sent more than one Content-Length");
    if (parser->need_eof())
        return fail(
            "gave neither Content-Length nor chunks, so a truncated body could not be told from a whole one");
    return State::more;
}

ResponseReader::ResponseReader(bool to_head, std::size_t max_body_bytes, bool encoded_body)
    : impl_(std::make_unique<Impl>(to_head, max_body_bytes, encoded_body)) {}
ResponseReader::~ResponseReader() = default;

ResponseReader::State ResponseReader::feed(std::string& input) {
    Impl& self = *impl_;
    boost::beast::error_code error;
    while (self.state == State::more) {
        if (self.head_checked && self.parser->is_done()) return self.state = State::complete;
        if (input.empty()) return State::more;
        self.parser->eager(self.head_checked);
        const std::size_t used = self.parser->put(boost::asio::buffer(input), error);
        input.erase(0, used);
        if (error == http::error::body_limit)
            return self.fail("sent a body larger than the limit of " + std::to_string(self.max_body_bytes) +
                             " bytes");
        if (error == http::error::need_more) {
            if (input.size() > kHeaderBytes) return self.fail("sent a chunk header or trailer without end");
            return State::more;
        }
        if (error) return self.fail("does not speak HTTP/1 correctly: " + error.message());
        if (!self.head_checked && self.parser->is_header_done()) {
            self.check_head();
        } else if (used == 0) {
            return State::more;
        }
    }
    return self.state;
}

const std::string& ResponseReader::fault() const { return impl_->fault; }

std::string ResponseReader::progress() const {
    if (!impl_->head_checked) return "before the head of the response was complete";
    const std::size_t got = impl_->parser->get().body().size();
    const auto length = impl_->parser->content_length();
    if (!length) return "after " + std::to_string(got) + " bytes of a chunked body";
    return "after " + std::to_string(got) + " of " + std::to_string(*length) + " bytes of the body";
}

bool ResponseReader::keep_alive() const { return impl_->parser->keep_alive(); }
int ResponseReader::status() const { return impl_->parser->get().result_int(); }
Headers ResponseReader::take_headers() { return std::move(impl_->headers); }
std::string ResponseReader::take_body() { return std::move(impl_->parser->get().body()); }

}  // namespace brink::net

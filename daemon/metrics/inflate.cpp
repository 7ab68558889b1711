#include "daemon/metrics/inflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace brink {

namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;
constexpr std::size_t kFirstBytes = std::size_t{64} * 1024;

struct EndInflate {
    void operator()(z_stream* stream) const { inflateEnd(stream); }
};

tl::unexpected<Error> bad_reply(std::string message) {
    return tl::unexpected(Error{ErrorCode::bad_reply, std::move(message)});
}

/// As much of `left` as zlib can count at a time.
uInt counted(std::size_t left) {
    return static_cast<uInt>(std::min<std::size_t>(left, std::numeric_limits<uInt>::max()));
}

}  // namespace

tl::expected<std::string, Error> inflate_gzip(std::string_view body, std::size_t max_bytes) {
    z_stream stream{};
    if (inflateInit2(&stream, kGzipOnly) != Z_OK)
        return tl::unexpected(Error{ErrorCode::internal, "no memory"});
    const std::unique_ptr<z_stream, EndInflate> owner{&stream};

    std::string text;
    std::size_t made = 0;
    bool in_member = true;  // from the start: an empty body is no gzip
    while (in_member || !body.empty()) {
        // One byte more than allowed tells a page that just fits from one that does not.
        if (made == text.size()) text.resize(std::min(std::max(2 * made, kFirstBytes), max_bytes + 1));
        const auto in = counted(body.size());
        const auto out = counted(text.size() - made);
        // zlib's bytes are unsigned, and it does not write to its input.
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));  // NOLINT
        stream.avail_in = in;
        stream.next_out = reinterpret_cast<Bytef*>(text.data() + made);  // NOLINT
        stream.avail_out = out;
        const int state = inflate(&stream, Z_NO_FLUSH);
        body.remove_prefix(in - stream.avail_in);
        made += out - stream.avail_out;
        if (made > max_bytes) {
            return bad_reply("the page is larger than the limit of " + std::to_string(max_bytes) +
                             " bytes once inflated: let the exporter export less");
        }
        in_member = state != Z_STREAM_END;
        if (!in_member) {
            if (!body.empty()) inflateReset(&stream);
            continue;
        }
        if (state != Z_OK && state != Z_BUF_ERROR) {
            const std::string reason = stream.msg != nullptr ? stream.msg : "no reason given";
            return bad_reply("the body is damaged, or no gzip although its Content-Encoding says so: " +
                             reason);
        }
        if (body.empty() && stream.avail_out != 0) {
            return bad_reply("the body is cut short: its gzip ends after " + std::to_string(made) +
                             " bytes of text without an end");
        }
    }
    text.resize(made);
    return text;
}

}  // namespace brink

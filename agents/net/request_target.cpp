#include "agents/net/request_target.hpp"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

namespace brink::net {
namespace {

bool has_control_character(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f;
    });
}

/// Looks at the decoded path, so that `%2e%2e` and `..%2f` are seen as what a file system would make of them.
bool has_parent_segment(std::string_view path) {
    std::size_t begin = 0;
    while (begin <= path.size()) {
        const std::size_t end = std::min(path.find_first_of("/\\", begin), path.size());
        if (path.substr(begin, end - begin) == "..") return true;
        begin = end + 1;
    }
    return false;
}

}  // namespace

tl::expected<RequestTarget, std::string> decode_target(std::string_view target) {
    if (target.empty() || target.front() != '/')
        return tl::unexpected<std::string>(
            "the request target must be an absolute path that starts with '/'");
    const auto parsed = boost::urls::parse_origin_form({target.data(), target.size()});
    if (!parsed)
        return tl::unexpected<std::string>(
            "the request target is not a valid path and query (RFC 3986); percent-encode special characters");
    RequestTarget result;
    result.path = parsed->path();
    if (has_parent_segment(result.path))
        return tl::unexpected<std::string>("the path must not hold '..' as a segment");
    if (has_control_character(result.path))
        return tl::unexpected<std::string>("the path must not hold NUL or other control characters");
    for (const auto& param : parsed->params()) {
        if (param.key.find('\0') != std::string::npos || param.value.find('\0') != std::string::npos)
            return tl::unexpected<std::string>("the query must not hold a NUL");
        result.query.emplace_back(param.key, param.value);
    }
    return result;
}

}  // namespace brink::net

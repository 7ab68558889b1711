#pragma once
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace brink::net {

/// The target of a request, split and percent-decoded.
struct RequestTarget {
    std::string path;
    std::vector<std::pair<std::string, std::string>> query;
};

/// Decodes an origin-form target (RFC 9112, 3.2.1). In the query `+` is a space, as forms send it.
/// The error is a sentence for the caller: not an absolute path, bad percent-encoding, a `..` segment however
/// it is encoded, or a NUL or other control character in it. Pure.
tl::expected<RequestTarget, std::string> decode_target(std::string_view target);

}  // namespace brink::net

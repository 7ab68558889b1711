#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "search/error.hpp"

namespace brink {

/// Undoes gzip (RFC 1952), also of several members one after the other. Never makes more than `max_bytes` of
/// it, however small the body is that asks for more. Errors: bad_reply, when it would, and when the body is
/// cut short, damaged, or no gzip. Pure.
tl::expected<std::string, Error> inflate_gzip(std::string_view body, std::size_t max_bytes);

}  // namespace brink

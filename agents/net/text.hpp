#pragma once
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "agents/net/http_message.hpp"

/// Small pure functions on texts, shared by server and client. Thread-safe.
namespace brink::net {

/// ASCII only, as field names and tokens are; the locale plays no part.
std::string lower(std::string_view text);
bool equal_ignoring_case(std::string_view a, std::string_view b);
/// First value of a field (case-insensitive name).
std::optional<std::string> find_field(const Headers& headers, std::string_view name);
/// A non-empty RFC 9110 token: what a method or a field name is made of.
bool is_token(std::string_view text);
/// A field value without control characters (tab is one of the allowed), so without CR, LF and NUL.
bool is_field_value(std::string_view text);
/// What an exception says, for logs and errors.
std::string what_of(const std::exception_ptr& fault);

}  // namespace brink::net

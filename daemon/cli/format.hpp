#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"

/// Numbers as people write and read them. Pure. Decimal units throughout: 1 kB = 1000 B, 1 MB = 10^6 B.
namespace brink::cli {

/// A size in bytes, ≥ 1: `100`, `100B`, `1k` = `1kB` = 1000, `1M` = `1MB` = 10^6, `1KiB` = 1024, `1MiB`, also
/// `1.5k`. Errors: invalid_input (not a size, or not a whole number of bytes).
tl::expected<std::int64_t, Error> parse_size(std::string_view text);
/// Sizes between commas. Errors: invalid_input.
tl::expected<std::vector<std::int64_t>, Error> parse_sizes(std::string_view list);
/// Seconds, ≥ 0: `5s`, `500ms`, `2m`, `1h`, or a bare number of seconds. Errors: invalid_input.
tl::expected<double, Error> parse_seconds(std::string_view text);
/// A number without a unit. Errors: invalid_input.
tl::expected<double, Error> parse_number(std::string_view text);

/// `100 B`, `1 kB`, `10 kB`, `1 KiB`; always exact.
std::string format_size(std::int64_t bytes);
/// Three significant digits: `12.3k`, `1.92M`; below a thousand without trailing zeros: `500`, `12.5`.
std::string format_count(double value);
/// Both ends in one unit, which `unit_of` (normally the figure printed before it) decides: `1.92–2.00`.
std::string format_range(double lower, double upper, double unit_of);
/// A share as `17%` or `19.6%`.
std::string format_share(double share);
/// `14:22`, or `1:02:03` from an hour on.
std::string format_clock(double seconds);
/// `45 s`, `40 min`, `3.5 h`: for estimates.
std::string format_estimate(double minutes);

/// Columns a terminal needs for a UTF-8 text of ordinary (single-width) characters.
std::size_t display_width(std::string_view text);
/// The first `columns` characters of a UTF-8 text.
std::string cut_to_width(std::string_view text, std::size_t columns);
/// The text with control characters replaced by `?`, so that no name or reason can command a terminal.
std::string printable(std::string_view text);

}  // namespace brink::cli

#pragma once
#include <string>
#include <string_view>

namespace brink::chart {

/// A text of any content as a gnuplot string that is this text and nothing else: in single quotes, in which
/// gnuplot runs no commands (`…`), expands no macros (@x) and knows no escapes; control characters and what
/// is no UTF-8 are replaced by `?`; at most `columns` characters, then `…`. Pure.
std::string quoted(std::string_view text, std::size_t columns = 100);

/// The text inside an XML element or attribute. Pure.
std::string xml_text(std::string_view text);

/// UTF-8 without control characters, at most `columns` characters. Pure.
std::string plain(std::string_view text, std::size_t columns);

}  // namespace brink::chart

#include "daemon/chart/gnuplot_text.hpp"

#include <algorithm>

#include "daemon/cli/format.hpp"

namespace brink::chart {
namespace {

/// Bytes of the well-formed UTF-8 character that begins here (RFC 3629), 0 when there is none.
std::size_t character_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                               : first >= 0xE0 && first <= 0xEF ? 3
                               : first >= 0xF0 && first <= 0xF4 ? 4
                                                                : 0;
    if (length == 0 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return 0;
    }
    // Overlong forms, surrogates, and beyond U+10FFFF.
    if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) return 0;
    if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) return 0;
    return length;
}

}  // namespace

std::string plain(std::string_view text, std::size_t columns) {
    std::string clean;
    while (!text.empty()) {
        const std::size_t length = character_length(text);
        clean += length == 0 ? "?" : std::string{text.substr(0, length)};
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    clean = cli::printable(clean);
    if (cli::display_width(clean) <= columns) return clean;
    return cli::cut_to_width(clean, columns - 1) + "…";
}

std::string quoted(std::string_view text, std::size_t columns) {
    std::string result = "'";
    for (const char c : plain(text, columns)) result.append(c == '\'' ? 2 : 1, c);
    return result + "'";
}

std::string xml_text(std::string_view text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += c;
        }
    }
    return result;
}

}  // namespace brink::chart

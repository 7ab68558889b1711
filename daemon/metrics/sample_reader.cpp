#include "daemon/metrics/sample_reader.hpp"

#include <charconv>
#include <system_error>

#include "daemon/metrics/sample_text.hpp"

namespace brink {

namespace {

using namespace exposition;

/// A decimal number, NaN or an infinity; a leading plus is allowed, hexadecimal is not.
std::optional<double> number(std::string_view word) {
    if (word.size() > 1 && word.front() == '+' && word[1] != '-') word.remove_prefix(1);
    double value = 0;
    const auto* const begin = word.data();
    const auto* const end = begin + word.size();
    const auto [stopped, fault] = std::from_chars(begin, end, value);
    if (fault != std::errc{} || stopped != end || word.empty()) return std::nullopt;
    return value;
}

}  // namespace

bool SampleReader::read(std::string_view rest) {
    labels_.clear();
    unescaped_.clear();
    skip_blanks(rest);
    if (take(rest, '{') && !read_labels(rest)) return false;
    skip_blanks(rest);
    const auto value = number(take_word(rest));
    if (!value) return false;
    value_ = *value;
    skip_blanks(rest);
    if (rest.empty() || rest.front() == '#') return true;
    if (!number(take_word(rest))) return false;  // a timestamp: brink times scrapes itself
    skip_blanks(rest);
    return rest.empty() || rest.front() == '#';
}

bool SampleReader::read_labels(std::string_view& rest) {
    for (;;) {
        skip_blanks(rest);
        if (take(rest, '}')) return true;  // also after the trailing comma that old exporters write
        const auto name = rest.substr(0, name_length(rest));
        rest.remove_prefix(name.size());
        skip_blanks(rest);
        if (name.empty() || !take(rest, '=')) return false;
        skip_blanks(rest);
        const auto value = read_quoted(rest);
        if (!value) return false;
        labels_.emplace_back(name, *value);
        skip_blanks(rest);
        if (take(rest, ',')) continue;
        return take(rest, '}');
    }
}

/// A quoted value; a view into the line itself where nothing was escaped.
std::optional<std::string_view> SampleReader::read_quoted(std::string_view& rest) {
    if (!take(rest, '"')) return std::nullopt;
    const auto quote = rest.find('"');
    if (quote == std::string_view::npos) return std::nullopt;
    const auto plain = rest.substr(0, quote);
    if (plain.find('\\') != std::string_view::npos) return read_escaped(rest);
    rest.remove_prefix(quote + 1);
    return plain;
}

std::optional<std::string_view> SampleReader::read_escaped(std::string_view& rest) {
    // The first one of a line makes room for all, so that appending never moves what the labels point at.
    if (unescaped_.empty()) unescaped_.reserve(rest.size());
    const auto from = unescaped_.size();
    while (!rest.empty()) {
        const char c = rest.front();
        rest.remove_prefix(1);
        if (c == '"') return std::string_view{unescaped_}.substr(from);
        if (c != '\\') {
            unescaped_ += c;
            continue;
        }
        if (rest.empty()) return std::nullopt;
        const char escaped = rest.front();
        rest.remove_prefix(1);
        if (escaped == 'n') {
            unescaped_ += '\n';
        } else {
            if (escaped != '"' && escaped != '\\') unescaped_ += '\\';
            unescaped_ += escaped;
        }
    }
    return std::nullopt;
}

}  // namespace brink

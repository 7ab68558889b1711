#pragma once
#include <array>
#include <cstddef>
#include <string_view>

// The characters that sample lines are made of. Private to the exposition parser.

namespace brink::exposition {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

inline void skip_blanks(std::string_view& rest) {
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
}

inline bool take(std::string_view& rest, char c) {
    if (rest.empty() || rest.front() != c) return false;
    rest.remove_prefix(1);
    return true;
}

inline constexpr auto kContinuesName = [] {
    std::array<bool, 256> continues{};
    for (const char c :
         std::string_view{"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:0123456789"}) {
        continues.at(static_cast<unsigned char>(c)) = true;
    }
    return continues;
}();

/// How many characters at the front are a name; 0 when there is none.
inline std::size_t name_length(std::string_view text) {
    if (text.empty() || (text.front() >= '0' && text.front() <= '9')) return 0;
    std::size_t length = 0;
    while (length < text.size() && kContinuesName[static_cast<unsigned char>(text[length])]) ++length;
    return length;
}

/// Everything up to the next blank.
inline std::string_view take_word(std::string_view& rest) {
    std::size_t length = 0;
    while (length < rest.size() && !is_blank(rest[length])) ++length;
    const auto word = rest.substr(0, length);
    rest.remove_prefix(length);
    return word;
}

}  // namespace brink::exposition

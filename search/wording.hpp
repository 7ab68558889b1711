#pragma once
#include <array>
#include <cstdio>
#include <string>

// How figures are written in a verdict's sentences.

namespace brink::wording {

inline std::string number(double value, const char* format = "%.3g") {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}
inline std::string percent(double share) { return number(share * 100, "%.1f") + " %"; }
inline std::string broker_name(int id) { return "broker " + std::to_string(id); }

}  // namespace brink::wording

#include "daemon/cli/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace brink::cli {
namespace {

constexpr double kLargestSize = 1e15;  // far beyond any message, and exact in a double

/// A leading decimal number and what follows it.
std::optional<std::pair<double, std::string_view>> split_number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
    std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    return std::pair{value, rest};
}

template <std::size_t N>
std::optional<double> factor_of(std::string_view unit,
                                const std::array<std::pair<std::string_view, double>, N>& units) {
    for (const auto& [name, factor] : units) {
        if (name == unit) return factor;
    }
    return std::nullopt;
}

double round_to_three_digits(double value) {
    if (value == 0) return 0;
    const double scale = std::pow(10, 2 - std::floor(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
}

struct Unit {
    double factor;
    const char* name;
};

Unit unit_for(double value) {
    const double size = std::abs(round_to_three_digits(value));
    if (size >= 1e9) return {1e9, "G"};
    if (size >= 1e6) return {1e6, "M"};
    if (size >= 1e3) return {1e3, "k"};
    return {1, ""};
}

std::string three_digits(double value) {
    const double size = std::abs(round_to_three_digits(value));
    const int decimals = size >= 100 ? 0 : size >= 10 ? 1 : 2;
    return fmt::format("{:.{}f}", value, decimals);
}

std::string without_trailing_zeros(std::string text) {
    if (text.find('.') == std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

}  // namespace

tl::expected<std::int64_t, Error> parse_size(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, double>, 14> kUnits{{{"", 1},
                                                                                 {"B", 1},
                                                                                 {"k", 1e3},
                                                                                 {"K", 1e3},
                                                                                 {"kB", 1e3},
                                                                                 {"KB", 1e3},
                                                                                 {"M", 1e6},
                                                                                 {"MB", 1e6},
                                                                                 {"G", 1e9},
                                                                                 {"GB", 1e9},
                                                                                 {"Ki", 1024},
                                                                                 {"KiB", 1024},
                                                                                 {"Mi", 1024.0 * 1024},
                                                                                 {"MiB", 1024.0 * 1024}}};
    const auto parts = split_number(text);
    const auto factor = parts ? factor_of(parts->second, kUnits) : std::nullopt;
    if (!factor) {
        return tl::unexpected{
            Error{ErrorCode::invalid_input,
                  fmt::format("\"{}\" is not a size; write 100, 1k, 10kB, 1MB or 1KiB", text)}};
    }
    const double bytes = parts->first * *factor;
    const double whole = std::round(bytes);
    if (whole < 1 || whole > kLargestSize || std::abs(bytes - whole) > 1e-6) {
        return tl::unexpected{
            Error{ErrorCode::invalid_input,
                  fmt::format("size \"{}\" must be a whole number of bytes, at least 1", text)}};
    }
    return static_cast<std::int64_t>(whole);
}

tl::expected<std::vector<std::int64_t>, Error> parse_sizes(std::string_view list) {
    std::vector<std::int64_t> sizes;
    while (true) {
        const std::size_t comma = list.find(',');
        auto size = parse_size(list.substr(0, comma));
        if (!size) return tl::unexpected{size.error()};
        sizes.push_back(*size);
        if (comma == std::string_view::npos) return sizes;
        list.remove_prefix(comma + 1);
    }
}

tl::expected<double, Error> parse_seconds(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, double>, 7> kUnits{
        {{"", 1}, {"s", 1}, {"ms", 0.001}, {"m", 60}, {"min", 60}, {"h", 3600}, {"sec", 1}}};
    const auto parts = split_number(text);
    const auto factor = parts ? factor_of(parts->second, kUnits) : std::nullopt;
    if (!factor || parts->first < 0) {
        return tl::unexpected{
            Error{ErrorCode::invalid_input,
                  fmt::format("\"{}\" is not a duration; write 5s, 500ms, 2m or 1h", text)}};
    }
    return parts->first * *factor;
}

tl::expected<double, Error> parse_number(std::string_view text) {
    const auto parts = split_number(text);
    if (!parts || !parts->second.empty()) {
        return tl::unexpected{Error{ErrorCode::invalid_input, fmt::format("\"{}\" is not a number", text)}};
    }
    return parts->first;
}

std::string format_size(std::int64_t bytes) {
    static constexpr std::array<std::pair<std::int64_t, const char*>, 4> kDecimal{
        {{1'000'000'000, "GB"}, {1'000'000, "MB"}, {1'000, "kB"}, {1, "B"}}};
    for (const auto& [factor, name] : kDecimal) {
        // One decimal at most: 1.5 kB reads well, 1.024 kB does not.
        if (bytes >= factor && (bytes * 10) % factor == 0) {
            return without_trailing_zeros(
                       fmt::format("{:.1f}", static_cast<double>(bytes) / static_cast<double>(factor))) +
                   " " + name;
        }
        if (factor == 1'000'000 && bytes >= 1 << 20 && bytes % (1 << 20) == 0)
            return fmt::format("{} MiB", bytes >> 20);
        if (factor == 1'000 && bytes >= 1024 && bytes % 1024 == 0) return fmt::format("{} KiB", bytes >> 10);
    }
    return fmt::format("{} B", bytes);
}

std::string format_count(double value) {
    const Unit unit = unit_for(value);
    if (unit.factor == 1) return without_trailing_zeros(three_digits(value));
    return three_digits(value / unit.factor) + unit.name;
}

std::string format_range(double lower, double upper, double unit_of) {
    const Unit unit = unit_for(unit_of);
    const auto one = [&unit](double value) {
        const std::string text = three_digits(value / unit.factor);
        return unit.factor == 1 ? without_trailing_zeros(text) : text;
    };
    return one(lower) + "–" + one(upper);
}

std::string format_share(double share) {
    return without_trailing_zeros(fmt::format("{:.1f}", share * 100)) + "%";
}

std::string format_clock(double seconds) {
    const auto whole = static_cast<std::int64_t>(std::llround(std::clamp(seconds, 0.0, 1e9)));
    const std::int64_t hours = whole / 3600;
    const std::int64_t minutes = whole / 60 % 60;
    if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
    return fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string format_estimate(double minutes) {
    if (minutes < 1.5) return fmt::format("{:.0f} s", minutes * 60);
    if (minutes < 120) return fmt::format("{:.0f} min", minutes);
    return without_trailing_zeros(fmt::format("{:.1f}", minutes / 60)) + " h";
}

std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string cut_to_width(std::string_view text, std::size_t columns) {
    std::size_t seen = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (starts_character(text[at]) && seen++ == columns) return std::string{text.substr(0, at)};
    }
    return std::string{text};
}

std::string printable(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        // U+0080…U+009F (C2 80…C2 9F) are controls as well: some terminals take U+009B for ESC [.
        const bool c1 =
            byte == 0xC2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0;
        clean.push_back(byte < 0x20 || byte == 0x7F || c1 ? '?' : text[at]);
        if (c1) ++at;
    }
    return clean;
}

}  // namespace brink::cli

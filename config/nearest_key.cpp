#include "config/nearest_key.hpp"

#include <algorithm>
#include <numeric>

namespace brink {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t substitution = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substitution});
        }
    }
    return row.back();
}

}  // namespace

std::string nearest_key(std::string_view typed, const std::vector<std::string>& known) {
    // Typed text may be anything of any length; comparing more than a key's length with keys is a waste.
    if (typed.size() > 64) return {};
    std::string best;
    std::size_t best_distance = 4;
    for (const auto& key : known) {
        const auto distance = edit_distance(typed, key);
        if (distance < best_distance && distance * 2 < std::max(typed.size(), key.size()) + 1) {
            best_distance = distance;
            best = key;
        }
    }
    return best;
}

std::string unknown_key_message(std::string_view typed, const std::vector<std::string>& known) {
    std::string message = "unknown key '" + std::string(typed.substr(0, 64)) + "'";
    if (const auto near = nearest_key(typed, known); !near.empty())
        return message + ": did you mean '" + near + "'?";
    message += "; known are";
    for (const auto& key : known) message += " " + key;
    return message;
}

}  // namespace brink

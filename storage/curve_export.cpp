#include "storage/curve_export.hpp"

#include <SQLiteCpp/Column.h>

#include <array>
#include <charconv>
#include <cmath>

namespace brink::storage {
namespace {

std::string csv_cell(const SQLite::Column& cell) {
    if (cell.isNull()) return {};
    if (cell.isInteger()) return std::to_string(cell.getInt64());
    if (cell.isFloat()) return csv_number(cell.getDouble());
    return csv_text(cell.getString());
}

}  // namespace

std::string csv_text(std::string_view text) {
    const bool formula =
        !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
    if (!formula && text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string cell = formula ? "\"'" : "\"";
    for (const char letter : text) cell.append(letter == '"' ? 2 : 1, letter);
    return cell + '"';
}

std::string csv_number(double value) {
    const double size = std::abs(value);
    const auto format =
        size == 0 || (size >= 1e-5 && size < 1e15) ? std::chars_format::fixed : std::chars_format::general;
    std::array<char, 64> digits{};  // the longest are 1e-5 with 17 digits, and 24 with an exponent
    const auto end = std::to_chars(digits.begin(), digits.end(), value, format).ptr;
    return {digits.begin(), end};
}

std::string curve_csv(Database& database, const std::string& sweep_id) {
    // By the view's own columns: one that a later migration adds appears in the file too.
    auto query = database.query("SELECT * FROM curve WHERE sweep_id = ?");
    query.bind(sweep_id);
    std::string text;
    const auto line = [&text, &query](auto cell_at) {
        for (int i = 0; i < query.columns(); ++i) text += (i == 0 ? "" : ",") + cell_at(i);
        text += "\r\n";
    };
    line([&query](int i) { return csv_text(query.column_name(i)); });
    while (query.step()) line([&query](int i) { return csv_cell(query.cell(i)); });
    return text;
}

}  // namespace brink::storage

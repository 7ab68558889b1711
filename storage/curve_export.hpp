#pragma once
#include <string>
#include <string_view>

#include "storage/database.hpp"

namespace brink::storage {

/// The rows of the view `curve` of one sweep as RFC 4180 text: CRLF, a header line of the view's column
/// names, shortest numbers that read back the same. Throws SQLite::Exception.
std::string curve_csv(Database& database, const std::string& sweep_id);

/// A text cell: quoted where RFC 4180 asks for it; what a spreadsheet would take for a formula (it starts
/// with = + - @ tab or CR) gets a ' in front and quotes.
std::string csv_text(std::string_view text);
/// A number with the fewest digits that read back the same, without an exponent in the range of ordinary
/// figures.
std::string csv_number(double value);

}  // namespace brink::storage

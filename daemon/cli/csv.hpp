#pragma once
#include <string>
#include <vector>

namespace brink::cli {

/// One RFC 4180 line with its CRLF. A cell that a spreadsheet would take for a formula gets a `'` in front.
std::string csv_row(const std::vector<std::string>& cells);

}  // namespace brink::cli

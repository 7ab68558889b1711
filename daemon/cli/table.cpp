#include "daemon/cli/table.hpp"

#include <algorithm>

#include "daemon/cli/format.hpp"

namespace brink::cli {

std::vector<std::string> Table::lines() const {
    std::vector<std::string> heading;
    std::vector<std::size_t> widths;
    for (const Column& column : columns_) {
        heading.push_back(column.title);
        widths.push_back(display_width(column.title));
    }
    for (const auto& row : rows_) {
        // The last cell of a short row is a remark that runs on to the right; it must not widen its column.
        const bool is_short = row.size() < columns_.size();
        for (std::size_t i = 0; i + (is_short ? 1 : 0) < row.size() && i < widths.size(); ++i) {
            widths[i] = std::max(widths[i], display_width(row[i]));
        }
    }
    const auto line_of = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t i = 0; i < cells.size() && i < columns_.size(); ++i) {
            if (i > 0) line += "  ";
            const bool last = i + 1 == cells.size();
            const std::size_t width = display_width(cells[i]);
            const std::string padding(width < widths[i] ? widths[i] - width : 0, ' ');
            if (columns_[i].right && !(last && cells.size() < columns_.size())) line += padding;
            line += cells[i];
            if (!columns_[i].right && !last) line += padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        return line;
    };
    std::vector<std::string> lines{line_of(heading)};
    for (const auto& row : rows_) lines.push_back(line_of(row));
    return lines;
}

}  // namespace brink::cli

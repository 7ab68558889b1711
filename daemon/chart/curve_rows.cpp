#include "daemon/chart/curve_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "daemon/csv_records.hpp"

namespace brink::chart {
namespace {

/// More sizes than a sweep may have; a larger file is not a curve.
constexpr std::size_t kMostRows = 10'000;

tl::unexpected<Error> wrong(std::string message) {
    return tl::unexpected{Error{ErrorCode::invalid_input, std::move(message), {}}};
}

/// Cells of one record by the names in the header.
struct Row {
    const csv::Record& header;
    const csv::Record& cells;
    std::size_t number;  ///< of the record in the file, the header being 1

    [[nodiscard]] std::string text(std::string_view column) const {
        const auto found = std::find(header.begin(), header.end(), column);
        const auto index = static_cast<std::size_t>(found - header.begin());
        return index < cells.size() ? cells[index] : std::string{};
    }
    /// Empty cell: no value.
    [[nodiscard]] tl::expected<std::optional<double>, Error> positive(std::string_view column) const {
        const std::string cell = text(column);
        if (cell.empty()) return std::optional<double>{};
        double value = 0;
        const auto [end, fault] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
        if (fault != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value) || value <= 0) {
            return wrong(fmt::format("row {}: {} is \"{}\", not a number above 0", number, column, cell));
        }
        return value;
    }
};

bool has_word(std::string_view text, std::string_view word) {
    return fmt::format(" {} ", text).find(fmt::format(" {} ", word)) != std::string::npos;
}

tl::expected<CurveRow, Error> curve_row(const Row& row) {
    const auto bytes = row.positive("message_bytes");
    if (!bytes) return tl::unexpected{bytes.error()};
    if (!*bytes) return wrong(fmt::format("row {}: message_bytes is empty", row.number));
    const auto lower = row.positive("lower_msgs_per_s");
    if (!lower) return tl::unexpected{lower.error()};
    const auto upper = row.positive("upper_msgs_per_s");
    if (!upper) return tl::unexpected{upper.error()};
    const auto measured = row.positive("measured_msgs_per_s");
    if (!measured) return tl::unexpected{measured.error()};
    CurveRow result;
    result.message_bytes = **bytes;
    result.lower = *lower;
    result.upper = *upper;
    result.measured = *measured;
    result.failed = has_word(row.text("flags"), "failed");
    return result;
}

}  // namespace

tl::expected<Curve, Error> read_curve_csv(std::string_view text) {
    static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // a spreadsheet puts it there
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    const auto records = csv::records_of(text, kMostRows, "curve");
    if (!records) return tl::unexpected{records.error()};
    if (records->empty()) return wrong("it is empty; brink export ID --csv writes a curve");
    const csv::Record& header = records->front();
    for (const char* needed :
         {"message_bytes", "lower_msgs_per_s", "upper_msgs_per_s", "measured_msgs_per_s"}) {
        if (std::find(header.begin(), header.end(), needed) == header.end()) {
            return wrong(fmt::format("there is no column {}; brink export ID --csv writes a curve", needed));
        }
    }
    Curve curve;
    for (std::size_t i = 1; i < records->size(); ++i) {
        const Row row{header, (*records)[i], i + 1};
        auto read = curve_row(row);
        if (!read) return tl::unexpected{read.error()};
        if (i == 1) {
            curve.sweep = row.text("sweep_id");
            curve.cluster = row.text("cluster");
            curve.day = row.text("started_at").substr(0, 10);
        }
        curve.rows.push_back(*read);
    }
    std::stable_sort(curve.rows.begin(), curve.rows.end(),
                     [](const CurveRow& a, const CurveRow& b) { return a.message_bytes < b.message_bytes; });
    return curve;
}

}  // namespace brink::chart

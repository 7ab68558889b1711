#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"

namespace brink::chart {

/// One size of a limit curve. Rates are messages/s and above 0; an end that is not known is empty.
struct CurveRow {
    double message_bytes = 0;          ///< ≥ 1
    std::optional<double> lower{};     ///< highest load seen sustained, as offered
    std::optional<double> upper{};     ///< lowest load seen overloaded, as offered
    std::optional<double> measured{};  ///< acknowledged at the lower end
    bool failed = false;               ///< the search of this size ended without an answer

    /// What is drawn: as measured at the lower end, else as offered there.
    [[nodiscard]] std::optional<double> boundary() const { return measured ? measured : lower; }
};

/// A limit curve and what is known of it. Texts are as they came: of any content.
struct Curve {
    std::string sweep{};    ///< id, may be empty
    std::string cluster{};  ///< may be empty
    std::string name{};     ///< of the sweep, may be empty
    std::string day{};      ///< YYYY-MM-DD of its first size, may be empty
    std::vector<CurveRow> rows{};
};

/// Reads what `brink export --csv` writes (RFC 4180, columns by name, others ignored). A row with the flag
/// `failed` is failed; an empty cell is an end that is not known. Errors: invalid_input, with the line and
/// the column. Pure.
tl::expected<Curve, Error> read_curve_csv(std::string_view text);

}  // namespace brink::chart

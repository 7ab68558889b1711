#pragma once
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "daemon/chart/curve_rows.hpp"
#include "search/error.hpp"

namespace brink::chart {

enum class Canvas { terminal, svg, png };

struct ChartOptions {
    Canvas canvas = Canvas::svg;
    int width = 960;                 ///< characters for the terminal (≥ 40), else pixels (≥ 480)
    int height = 600;                ///< rows for the terminal (≥ 12), else pixels (≥ 360)
    std::string title{};             ///< empty: the sweep's name, or what the curve is
    double headroom = 0.2;           ///< share of the boundary kept free, in [0, 1); 0: no line
    std::optional<Curve> compare{};  ///< a second curve
};

/// A chart, ready to be drawn by gnuplot.
struct Chart {
    std::string script{};               ///< gnuplot commands; the picture goes to standard output
    std::string title{};                ///< one line of plain text
    std::string description{};          ///< the chart in words, for those who cannot see it
    std::vector<std::string> legend{};  ///< lines to print under a terminal's chart; a picture has its own
};

/// The limit curve as a chart: x bytes/message, y messages/s, both logarithmic; diagonals of equal
/// throughput; a bar from the lower to the upper end of every boundary; straight lines between what was
/// measured, none beyond; an arrow where nothing overloaded was seen; sizes without an answer left out and
/// named. No text of the curve can act as a gnuplot command. Errors: invalid_input when no size has an end to
/// draw, or an option is out of its range. Pure.
tl::expected<Chart, Error> draw_curve(const Curve& curve, const ChartOptions& options);

/// gnuplot's SVG with the chart's own `<title>` and `<desc>`, told to screen readers as one picture. Pure.
std::string described_svg(std::string svg, const Chart& chart);

/// gnuplot's drawing for a terminal without its form feed, empty first lines and trailing spaces. Pure.
std::string trimmed_drawing(const std::string& drawing);

}  // namespace brink::chart

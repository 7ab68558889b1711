#pragma once
#include <string>
#include <vector>

#include "daemon/chart/curve_chart.hpp"
#include "daemon/chart/plane.hpp"

/// What is on a chart, before it is said how it looks. Pure.
namespace brink::chart {

/// The boundary of one size as drawn: a marker with a bar up to the load that was too much.
struct Bar {
    double bytes = 1;
    double boundary = 1;
    std::optional<double> upper{};  ///< none: nothing overloaded was seen, an arrow shows it
};

/// One curve. A size without an answer interrupts the line.
struct Trace {
    std::string name{};
    std::vector<std::vector<Bar>> runs{};
    Path only_upper{};                    ///< sizes at which even one producer was too much
    std::vector<std::string> left_out{};  ///< sizes that failed

    [[nodiscard]] std::vector<Bar> bars() const;
    [[nodiscard]] bool has_uppers() const;
    [[nodiscard]] bool has_open_ends() const;  ///< at least one bar without an upper end
};

struct Figure {
    Canvas canvas = Canvas::svg;
    int width = 0;
    int height = 0;
    std::vector<Curve> curves{};  ///< everything the plane has to show
    std::string title{};
    std::string subtitle{};
    double headroom = 0;
    Trace main{};
    std::optional<Trace> other{};
    std::vector<std::string> notes{};  ///< sentences to stand under the chart

    /// The line of the headroom: the boundary less its share, run by run.
    [[nodiscard]] std::vector<Path> headroom_lines() const;
    /// Everything that a diagonal's label should keep away from.
    [[nodiscard]] std::vector<Path> drawn() const;
};

/// A line at a run's boundaries; a run of one size gets a short one, so that it can be seen.
Path line_of(const std::vector<Bar>& run, double factor);

Trace trace_of(const Curve& curve);

/// The two ways to draw it.
std::string picture_script(const Figure& figure);
std::string terminal_script(const Figure& figure);

/// `1 kB: 1.29k messages/s sustained, 1.5k overloaded`, for each size.
std::string words_of(const Trace& trace);

}  // namespace brink::chart

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daemon/chart/figure.hpp"
#include "daemon/chart/gnuplot_text.hpp"
#include "daemon/cli/format.hpp"

namespace brink::chart {
namespace {

// The frame, in characters.
constexpr int kLeft = 8;
constexpr int kRight = 2;
constexpr int kTop = 3;
constexpr int kBottom = 3;
constexpr double kDiagonalLabel = 9;
constexpr Room kAround{.beside = 8, .below = 1.5, .above = 2};

/// One character drawn at many spots.
struct Layer {
    const char* sign;
    Path spots{};
};

Path sampled(const Plane& plane, const std::vector<Path>& lines, double step) {
    Path spots;
    for (const auto& line : lines) {
        for (std::size_t i = 0; i + 1 < line.size(); ++i) {
            const auto part = along(plane, line[i], line[i + 1], step);
            spots.insert(spots.end(), part.begin(), part.end());
        }
    }
    return spots;
}

void add_trace(std::vector<Layer>& layers, const Plane& plane, const Trace& trace, bool main) {
    Layer line{main ? "*" : "+"};
    Layer bars{"|"};
    Layer uppers{"×", trace.only_upper};
    Layer markers{main ? "●" : "o"};
    Layer arrows{"↑"};
    std::vector<Path> lines;
    for (const auto& run : trace.runs) {
        if (run.size() > 1) lines.push_back(line_of(run, 1));
        for (const auto& bar : run) {
            markers.spots.push_back({bar.bytes, bar.boundary});
            if (bar.upper) {
                const auto part = along(plane, {bar.bytes, bar.boundary}, {bar.bytes, *bar.upper}, 1);
                bars.spots.insert(bars.spots.end(), part.begin(), part.end());
                uppers.spots.push_back({bar.bytes, *bar.upper});
            } else {
                arrows.spots.push_back({bar.bytes, plane.rate_at(plane.up(bar.boundary) + 1)});
            }
        }
    }
    line.spots = sampled(plane, lines, 1);
    layers.push_back(std::move(line));
    layers.push_back(std::move(bars));
    // Of the comparison only the line and its markers: the bars of two curves cannot be told apart here.
    if (main) layers.push_back(std::move(uppers));
    if (main) layers.push_back(std::move(arrows));
    layers.push_back(std::move(markers));
}

std::string tick_list(const std::vector<Tick>& ticks) {
    std::string list;
    for (const auto& tick : ticks) {
        if (tick.label.empty()) continue;
        list += fmt::format("{}{} {:.10g}", list.empty() ? "" : ", ", quoted(tick.label), tick.at);
    }
    return list;
}

}  // namespace

std::string terminal_script(const Figure& figure) {
    const Plane plane = plane_around(figure.curves, figure.headroom, figure.width - kLeft - kRight - 1,
                                     figure.height - kTop - kBottom - 1, kAround);
    std::string script = fmt::format(
        "set encoding utf8\n"
        "set terminal dumb {} {} mono noenhanced\n"
        "set lmargin {}\nset rmargin {}\nset tmargin {}\nset bmargin {}\n"
        "set border 3\nset tics nomirror scale 0.5,0\nunset key\nset logscale xy 10\n"
        "set xrange [{:.10g}:{:.10g}]\nset yrange [{:.10g}:{:.10g}]\n"
        "set xtics ({})\nset ytics ({})\n",
        figure.width, figure.height, kLeft, kRight, kTop, kBottom, plane.x.from, plane.x.to, plane.y.from,
        plane.y.to, tick_list(size_ticks(plane.x)), tick_list(rate_ticks(plane.y)));
    const auto columns = static_cast<std::size_t>(figure.width - 2);
    script += fmt::format("set label 1 {} at screen 0,0 left offset 1,{}\n", quoted(figure.title, columns),
                          figure.height - 1);
    script += fmt::format("set label 3 {} at screen 0,0 left offset 1,{}\n", quoted(figure.subtitle, columns),
                          figure.height - 2);
    script += fmt::format("set label 2 'messages/s' at screen 0,0 left offset 1,{}\n", figure.height - 3);
    script += "set xlabel 'bytes/message'\n";

    std::vector<Layer> layers;
    Layer dots{"."};
    int label = 100;
    for (const auto& line : diagonals(plane, figure.drawn(), kDiagonalLabel)) {
        const auto part = along(plane, line.from, line.to, 2);
        dots.spots.insert(dots.spots.end(), part.begin(), part.end());
        script += fmt::format("set label {} {} at {:.10g},{:.10g} center front\n", ++label,
                              quoted(line.label), line.label_at.x, line.label_at.y);
    }
    layers.push_back(std::move(dots));
    layers.push_back({"-", sampled(plane, figure.headroom_lines(), 1)});
    if (figure.other) add_trace(layers, plane, *figure.other, false);
    add_trace(layers, plane, figure.main, true);

    std::string plots;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (layers[i].spots.empty()) continue;
        script += fmt::format("$layer{} << EOD\n", i);
        for (const auto& spot : layers[i].spots) script += fmt::format("{:.10g} {:.10g}\n", spot.x, spot.y);
        script += "EOD\n";
        plots += fmt::format("{}$layer{} with points pointtype '{}'", plots.empty() ? "" : ", ", i,
                             layers[i].sign);
    }
    return script + "plot " + plots + "\n";
}

}  // namespace brink::chart

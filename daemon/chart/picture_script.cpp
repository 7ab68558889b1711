#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "daemon/chart/figure.hpp"
#include "daemon/chart/gnuplot_text.hpp"
#include "daemon/cli/format.hpp"

namespace brink::chart {
namespace {

// Okabe and Ito's colours, which the colour-blind can tell apart; shape and dash differ as well.
constexpr const char* kCurve = "#0072B2";
constexpr const char* kOverloaded = "#D55E00";
constexpr const char* kSafe = "#009E73";
constexpr const char* kHeadroom = "#E69F00";
constexpr const char* kComparison = "#56B4E9";
constexpr const char* kInk = "#222222";
constexpr const char* kGrey = "#767676";

/// A PNG has twice the pixels, for dense screens; everything on it grows alike.
constexpr int kPngScale = 2;

// The frame, in pixels of the SVG.
constexpr double kLeft = 92;
constexpr double kRight = 28;
constexpr double kTop = 74;
constexpr double kBottom = 108;
constexpr double kNoteLine = 19;
/// Room that a label on a diagonal takes, and that the figures of one size do.
constexpr double kDiagonalLabel = 78;
constexpr double kFiguresRoom = 84;
constexpr double kArrow = 34;
/// Width of a band's name, and its distance from the band's left edge.
constexpr double kBandName = 84;
constexpr double kBandNameInset = 10;
constexpr Room kAround{.beside = 96, .below = 44, .above = 72};

/// Builds the script line by line.
class Script {
  public:
    template <class... Values>
    void add(fmt::format_string<Values...> format, Values&&... values) {
        text_ += fmt::format(format, std::forward<Values>(values)...) + "\n";
    }
    /// A named block of data; spots of different paths are not joined.
    void block(const std::string& name, const std::vector<Path>& paths) {
        add("${} << EOD", name);
        for (const auto& path : paths) {
            for (const auto& spot : path) add("{:.10g} {:.10g}", spot.x, spot.y);
            add("");
        }
        add("EOD");
    }
    /// One element of the plot command.
    void plot(const std::string& element) { elements_.push_back(element); }
    [[nodiscard]] std::string text() const {
        std::string all = text_ + "plot ";
        for (std::size_t i = 0; i < elements_.size(); ++i)
            all += (i == 0 ? "" : ", \\\n     ") + elements_[i];
        return all + "\n";
    }

  private:
    std::string text_;
    std::vector<std::string> elements_;
};

std::string tick_list(const std::vector<Tick>& ticks) {
    std::string list;
    for (const auto& tick : ticks) {
        list += fmt::format("{}{} {:.10g} {}", list.empty() ? "" : ", ", quoted(tick.label), tick.at,
                            tick.label.empty() ? 1 : 0);
    }
    return list;
}

/// The frame leaves more room below when there are notes.
double bottom_of(const Figure& figure) {
    return kBottom + kNoteLine * static_cast<double>(figure.notes.size());
}

Plane plane_of(const Figure& figure) {
    return plane_around(figure.curves, figure.headroom, figure.width - kLeft - kRight,
                        figure.height - kTop - bottom_of(figure), kAround);
}

/// Where the bands' names stand: at the frame's edges, as far from the curve as can be.
struct BandName {
    const char* text;
    const char* colour;
    Spot at;
};
std::vector<BandName> band_names(const Figure& figure, const Plane& plane) {
    std::optional<Spot> safe;
    std::optional<Spot> overloaded;
    for (const auto& run : figure.main.runs) {
        for (std::size_t i = 0; i + 1 < run.size(); ++i) {
            const double left = plane.across(run[i].bytes);
            const double right = plane.across(run[i + 1].bytes);
            if (right - left < kBandName + kBandNameInset) continue;
            if (!safe) safe = {plane.bytes_at(left + kBandNameInset), plane.rate_at(16)};
            if (!run[i].upper || !run[i + 1].upper) continue;
            overloaded = {plane.bytes_at(right - kBandName), plane.rate_at(plane.height - 16)};
        }
    }
    std::vector<BandName> names;
    if (safe) names.push_back({"safe", "#00664b", *safe});
    if (overloaded) names.push_back({"overloaded", "#9c4400", *overloaded});
    return names;
}

void add_frame(Script& script, const Figure& figure, const Plane& plane) {
    const double w = figure.width;
    const double h = figure.height;
    script.add("set encoding utf8");
    if (figure.canvas == Canvas::png) {
        script.add(
            "set terminal pngcairo size {},{} noenhanced font 'sans,13' fontscale {} linewidth {} "
            "pointscale {} background '#ffffff'",
            figure.width * kPngScale, figure.height * kPngScale, kPngScale * 0.76, kPngScale, kPngScale);
    } else {
        script.add("set terminal svg size {},{} dynamic noenhanced font 'sans-serif,13' background '#ffffff'",
                   figure.width, figure.height);
    }
    script.add("set lmargin at screen {:.5f}", kLeft / w);
    script.add("set rmargin at screen {:.5f}", 1 - kRight / w);
    script.add("set tmargin at screen {:.5f}", 1 - kTop / h);
    script.add("set bmargin at screen {:.5f}", bottom_of(figure) / h);
    script.add("set border 3 linecolor rgb '{}'", kGrey);
    script.add("set logscale xy 10");
    script.add("set xrange [{:.10g}:{:.10g}]", plane.x.from, plane.x.to);
    script.add("set yrange [{:.10g}:{:.10g}]", plane.y.from, plane.y.to);
    script.add("set tics nomirror scale 1,0.5 textcolor rgb '{}'", kInk);
    script.add("set xtics ({})", tick_list(size_ticks(plane.x)));
    script.add("set ytics ({})", tick_list(rate_ticks(plane.y)));
    script.add("set xlabel 'message size (bytes/message)' textcolor rgb '{}' offset 0,0.2", kInk);
    script.add("set ylabel 'message rate (messages/s)' textcolor rgb '{}' offset -0.6,0", kInk);
    script.add("set label 1 {} at screen {:.5f},{:.5f} left font ',18' textcolor rgb '{}'",
               quoted(figure.title), kLeft / w, 1 - 28 / h, kInk);
    script.add("set label 2 {} at screen {:.5f},{:.5f} left font ',12' textcolor rgb '{}'",
               quoted(figure.subtitle, 120), kLeft / w, 1 - 51 / h, kGrey);
    for (std::size_t i = 0; i < figure.notes.size(); ++i) {
        script.add("set label {} {} at screen {:.5f},{:.5f} left font ',12' textcolor rgb '{}'", 10 + i,
                   quoted(figure.notes[i], 130), kLeft / w,
                   (6 + kNoteLine * static_cast<double>(figure.notes.size() - i) - kNoteLine / 2) / h, kInk);
    }
    script.add(
        "set key at screen 0.5,{:.5f} center top horizontal Left reverse samplen 2.2 spacing 1.15 "
        "maxrows 2 width 0 textcolor rgb '{}' font ',12'",
        (bottom_of(figure) - 56) / h, kInk);
}

/// The regions, between sizes that both have the ends they need: nothing is said beyond what was measured.
void add_bands(Script& script, const Figure& figure, const Plane& plane) {
    std::vector<Path> safe;
    std::vector<Path> unknown;
    std::vector<Path> overloaded;
    for (const auto& run : figure.main.runs) {
        for (std::size_t i = 0; i + 1 < run.size(); ++i) {
            const Bar& a = run[i];
            const Bar& b = run[i + 1];
            safe.push_back({{a.bytes, plane.y.from},
                            {a.bytes, a.boundary},
                            {b.bytes, b.boundary},
                            {b.bytes, plane.y.from}});
            if (!a.upper || !b.upper) continue;
            unknown.push_back(
                {{a.bytes, a.boundary}, {a.bytes, *a.upper}, {b.bytes, *b.upper}, {b.bytes, b.boundary}});
            overloaded.push_back(
                {{a.bytes, *a.upper}, {a.bytes, plane.y.to}, {b.bytes, plane.y.to}, {b.bytes, *b.upper}});
        }
    }
    const auto band = [&script](const std::string& name, const std::vector<Path>& areas,
                                const std::string& title, const char* colour, double density) {
        if (areas.empty()) return;
        script.block(name, areas);
        script.plot(
            fmt::format("${} using 1:2 with filledcurves closed fillcolor rgb '{}' fillstyle "
                        "transparent solid {} noborder {}",
                        name, colour, density, title));
    };
    band("safe", safe, "notitle", kSafe, 0.13);
    band("unknown", unknown, "title 'between: not known'", kGrey, 0.30);
    int label = 300;
    for (const auto& name : band_names(figure, plane)) {
        script.add("set label {} '{}' at {:.10g},{:.10g} left font ',13' textcolor rgb '{}'", ++label,
                   name.text, name.at.x, name.at.y, name.colour);
    }
    band("overloaded", overloaded, "notitle", kOverloaded, 0.12);
}

void add_diagonals(Script& script, const Figure& figure, const Plane& plane) {
    std::vector<Path> lines;
    int label = 100;
    auto drawn = figure.drawn();
    for (const auto& name : band_names(figure, plane)) {
        drawn.push_back({name.at, {plane.bytes_at(plane.across(name.at.x) + kBandName), name.at.y}});
    }
    for (const auto& line : diagonals(plane, drawn, kDiagonalLabel)) {
        lines.push_back({line.from, line.to});
        // A little above the line, along it.
        const double angle = plane.diagonal_angle();
        script.add("set label {} {} at {:.10g},{:.10g} center rotate by {:.2f} font ',11' textcolor rgb '{}'",
                   ++label, quoted(line.label), plane.bytes_at(plane.across(line.label_at.x) + 5),
                   plane.rate_at(plane.up(line.label_at.y) + 8), angle, kGrey);
    }
    if (lines.empty()) return;
    script.block("throughput", lines);
    script.plot(
        fmt::format("$throughput with lines linewidth 1 dashtype '.' linecolor rgb '{}' notitle", kGrey));
}

/// Bars, ends and the line of one curve.
void add_trace(Script& script, const Plane& plane, const Trace& trace, bool main) {
    const std::string suffix = main ? "" : "_other";
    const char* colour = main ? kCurve : kComparison;
    std::vector<Path> bars;
    std::vector<Path> lines;
    Path uppers = trace.only_upper;
    Path open;
    for (const auto& run : trace.runs) {
        if (run.size() > 1) {
            lines.push_back(line_of(run, 1));
        } else {
            lines.push_back({{run.front().bytes, run.front().boundary}});
        }
        for (const auto& bar : run) {
            if (bar.upper) {
                bars.push_back({{bar.bytes, bar.boundary}, {bar.bytes, *bar.upper}});
                uppers.push_back({bar.bytes, *bar.upper});
            } else {
                open.push_back({bar.bytes, bar.boundary});
            }
        }
    }
    if (!bars.empty()) {
        script.block("bars" + suffix, bars);
        script.plot(fmt::format("$bars{} with lines linewidth {} linecolor rgb '{}' notitle", suffix,
                                main ? 2.2 : 1.6, colour));
    }
    for (const auto& spot : open) {
        script.add(
            "set arrow from {:.10g},{:.10g} to {:.10g},{:.10g} head filled size screen 0.008,22 "
            "linewidth 2.2 linecolor rgb '{}' front",
            spot.x, spot.y, spot.x, plane.rate_at(plane.up(spot.y) + kArrow), colour);
    }
    if (!lines.empty()) {
        script.block("curve" + suffix, lines);
        const std::string title = main ? std::string{"'highest load sustained'"} : quoted(trace.name, 40);
        script.plot(
            fmt::format("$curve{} with linespoints linewidth {} {} pointtype {} pointsize {} linecolor "
                        "rgb '{}' title {}",
                        suffix, main ? 2.6 : 1.8, main ? "dashtype solid" : "dashtype (9,4)", main ? 7 : 5,
                        main ? 1.0 : 0.75, colour, title));
    }
    if (!uppers.empty()) {
        script.block("uppers" + suffix, {uppers});
        script.plot(
            fmt::format("$uppers{} with points pointtype 2 pointsize {} linewidth {} linecolor rgb '{}' {}",
                        suffix, main ? 1.0 : 0.7, main ? 2.4 : 1.6, main ? kOverloaded : colour,
                        main ? "title 'lowest load overloaded'" : "notitle"));
    }
}

/// The figures above each bar, where they have room side by side.
void add_figures(Script& script, const Figure& figure, const Plane& plane) {
    const auto bars = figure.main.bars();
    double last = -kFiguresRoom;
    int label = 200;
    for (const auto& bar : bars) {
        const double across = plane.across(bar.bytes);
        if (across - last < kFiguresRoom) continue;
        last = across;
        const double top = plane.up(bar.upper.value_or(bar.boundary)) + (bar.upper ? 15 : kArrow + 4);
        const std::string text = bar.upper ? cli::format_range(bar.boundary, *bar.upper, bar.boundary)
                                           : "≥ " + cli::format_count(bar.boundary);
        const bool thousands = bar.upper && bar.boundary >= 1e3;
        const std::string whole = cli::format_count(bar.boundary);
        script.add("set label {} {} at {:.10g},{:.10g} left font ',12' textcolor rgb '{}' front", ++label,
                   quoted(thousands ? text + whole.back() : text), plane.bytes_at(across + 5),
                   plane.rate_at(top), kInk);
    }
}

void add_headroom(Script& script, const Figure& figure) {
    const auto lines = figure.headroom_lines();
    if (lines.empty()) return;
    script.block("headroom", lines);
    script.plot(fmt::format(
        "$headroom with lines linewidth 2.2 dashtype (7,5) linecolor rgb '{}' title '{} headroom'", kHeadroom,
        cli::format_share(figure.headroom)));
}

}  // namespace

std::string picture_script(const Figure& figure) {
    const Plane plane = plane_of(figure);
    Script script;
    add_frame(script, figure, plane);
    add_bands(script, figure, plane);
    add_diagonals(script, figure, plane);
    add_headroom(script, figure);
    if (figure.other) add_trace(script, plane, *figure.other, false);
    add_trace(script, plane, figure.main, true);
    add_figures(script, figure, plane);
    return script.text();
}

}  // namespace brink::chart

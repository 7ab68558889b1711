#include "daemon/chart/curve_chart.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "daemon/chart/figure.hpp"
#include "daemon/chart/gnuplot_text.hpp"
#include "daemon/cli/format.hpp"

namespace brink::chart {
namespace {

constexpr std::size_t kLongestTitle = 90;

tl::unexpected<Error> wrong(std::string message) {
    return tl::unexpected{Error{ErrorCode::invalid_input, std::move(message), {}}};
}

std::string subtitle_of(const Curve& curve) {
    std::vector<std::string> parts;
    if (!curve.cluster.empty()) parts.push_back("cluster " + curve.cluster);
    if (!curve.sweep.empty()) parts.push_back("sweep " + curve.sweep);
    if (!curve.day.empty()) parts.push_back(curve.day);
    return plain(fmt::format("{}", fmt::join(parts, " · ")), kLongestTitle + 30);
}

std::string title_of(const Curve& curve, const ChartOptions& options) {
    const std::string title = !options.title.empty() ? options.title
                              : !curve.name.empty()  ? "Limit curve: " + curve.name
                                                     : std::string{"Limit curve"};
    return plain(title, kLongestTitle);
}

void add_notes(std::vector<std::string>& notes, const Trace& trace, const std::string& whose) {
    if (!trace.left_out.empty()) {
        notes.push_back(
            fmt::format("Left out{}, without an answer: {}", whose, fmt::join(trace.left_out, ", ")));
    }
    if (!trace.only_upper.empty()) {
        std::vector<std::string> sizes;
        for (const auto& spot : trace.only_upper) {
            sizes.push_back(fmt::format("{} below {} msg/s",
                                        cli::format_size(static_cast<std::int64_t>(spot.x)),
                                        cli::format_count(spot.y)));
        }
        notes.push_back(
            fmt::format("One producer was already too much{}: {}", whose, fmt::join(sizes, ", ")));
    }
}

std::vector<std::string> legend_of(const Figure& figure) {
    std::string signs = "● highest load sustained, as measured";
    if (figure.main.has_uppers()) signs += "   × lowest load overloaded";
    if (figure.main.has_open_ends()) signs += "   ↑ at least";
    std::vector<std::string> legend{signs};
    std::string lines;
    if (figure.headroom > 0) lines = fmt::format("- {} headroom   ", cli::format_share(figure.headroom));
    lines += ". MB/s of payload";
    if (figure.other) lines += "   o " + figure.other->name;
    legend.push_back(lines);
    legend.insert(legend.end(), figure.notes.begin(), figure.notes.end());
    return legend;
}

}  // namespace

tl::expected<Chart, Error> draw_curve(const Curve& curve, const ChartOptions& options) {
    if (!(options.headroom >= 0 && options.headroom < 1)) {
        return wrong(fmt::format("the headroom must be from 0% to below 100%, not {}", options.headroom));
    }
    const bool terminal = options.canvas == Canvas::terminal;
    if (options.width < (terminal ? 40 : 480) || options.height < (terminal ? 12 : 360)) {
        return wrong(fmt::format("{} × {} is too small for a chart", options.width, options.height));
    }
    Figure figure;
    figure.canvas = options.canvas;
    figure.width = options.width;
    figure.height = options.height;
    figure.headroom = options.headroom;
    figure.main = trace_of(curve);
    if (figure.main.runs.empty() && figure.main.only_upper.empty()) {
        return wrong(curve.rows.empty() ? "the curve has no size yet: there is nothing to draw"
                                        : fmt::format("no size of the curve has an answer ({}): there is "
                                                      "nothing to draw",
                                                      fmt::join(figure.main.left_out, ", ")));
    }
    figure.curves.push_back(curve);
    if (options.compare) {
        figure.curves.push_back(*options.compare);
        figure.other = trace_of(*options.compare);
        figure.other->name = plain(figure.other->name.empty() ? "comparison" : figure.other->name, 40);
        if (figure.other->runs.empty()) return wrong("the curve to compare with has no size to draw");
    }
    figure.title = title_of(curve, options);
    figure.subtitle = subtitle_of(curve);
    add_notes(figure.notes, figure.main, "");
    if (figure.other) add_notes(figure.notes, *figure.other, " of " + figure.other->name);

    Chart chart;
    chart.title = figure.title;
    chart.description = "Message rate against message size, both axes logarithmic. " + words_of(figure.main) +
                        (figure.other ? "Compared with " + figure.other->name + ": " + words_of(*figure.other)
                                      : std::string{});
    for (const auto& note : figure.notes) chart.description += note + ". ";
    chart.description.erase(chart.description.find_last_not_of(' ') + 1);
    if (terminal) chart.legend = legend_of(figure);
    chart.script = terminal ? terminal_script(figure) : picture_script(figure);
    return chart;
}

std::string described_svg(std::string svg, const Chart& chart) {
    const auto replace = [&svg](std::string_view tag, const std::string& id, const std::string& text) {
        const std::size_t begin = svg.find(fmt::format("<{}>", tag));
        const std::string closing = fmt::format("</{}>", tag);
        const std::size_t end = svg.find(closing);
        if (begin == std::string::npos || end == std::string::npos || end < begin) return;
        svg.replace(begin, end + closing.size() - begin,
                    fmt::format("<{0} id=\"{1}\">{2}</{0}>", tag, id, xml_text(text)));
    };
    replace("title", "brink-title", chart.title);
    replace("desc", "brink-desc", chart.description);
    if (const std::size_t root = svg.find("<svg "); root != std::string::npos) {
        svg.insert(root + 5, "role=\"img\" aria-labelledby=\"brink-title brink-desc\" ");
    }
    // gnuplot names its plots gnuplot_plot_1 …: browsers would show that under the pointer.
    static constexpr std::string_view kOpening = "<title>gnuplot_plot_";
    static constexpr std::string_view kClosing = "</title>";
    for (std::size_t at = svg.find(kOpening); at != std::string::npos; at = svg.find(kOpening, at)) {
        const std::size_t end = svg.find(kClosing, at);
        if (end == std::string::npos) break;
        svg.erase(at, end + kClosing.size() - at);
    }
    return svg;
}

std::string trimmed_drawing(const std::string& drawing) {
    std::istringstream in(drawing);
    std::string result;
    for (std::string line; std::getline(in, line);) {
        line.erase(std::remove(line.begin(), line.end(), '\f'), line.end());
        line.erase(line.find_last_not_of(" \r") + 1);
        if (!result.empty() || !line.empty()) result += line + "\n";
    }
    while (result.ends_with("\n\n")) result.pop_back();
    return result;
}

}  // namespace brink::chart

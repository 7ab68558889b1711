#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "daemon/chart/curve_chart.hpp"
#include "daemon/chart/gnuplot.hpp"
#include "daemon/cli/commands/commands.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/fields.hpp"
#include "daemon/cli/format.hpp"
#include "daemon/cli/sweep_lookup.hpp"

namespace brink::cli {
namespace {

using chart::Canvas;
using chart::Curve;

constexpr std::size_t kLargestCurve = 64UL * 1024 * 1024;
/// A chart on a terminal: as large as it is of use, and room below for the prompt and the legend.
constexpr int kWidest = 110;
constexpr int kHighest = 34;
constexpr int kRowsBelow = 6;
constexpr int kRowsOffTerminal = 26;

Error invalid(std::string message) { return Error{ErrorCode::invalid_input, std::move(message)}; }

tl::expected<Curve, Error> curve_of_file(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) return tl::unexpected{invalid("cannot open " + path)};
    const std::string text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    if (file.bad()) return tl::unexpected{invalid("cannot read " + path)};
    return chart::read_curve_csv(text).map_error([&path](const Error& error) { return error.within(path); });
}

tl::expected<Curve, Error> curve_of_sweep(Context& context, const std::string& id) {
    const auto sweep = context.controller.get("/sweeps/" + path_segment(id));
    if (!sweep) return tl::unexpected{sweep.error()};
    const auto csv = context.controller.download("/sweeps/" + path_segment(id) + "/curve.csv", kLargestCurve,
                                                 ControllerClient::kQuick);
    if (!csv) return tl::unexpected{csv.error()};
    auto curve = chart::read_curve_csv(*csv);
    if (!curve) return tl::unexpected{curve.error().within("the curve of sweep " + id)};
    curve->sweep = id;
    curve->cluster = text(*sweep, "cluster");
    curve->name = text(*sweep, "name");
    if (!has_ended(text(*sweep, "state"))) {
        context.output.note(
            fmt::format("{} is still {}: only its finished sizes are drawn", id, text(*sweep, "state")));
    }
    return curve;
}

tl::expected<Curve, Error> main_curve(Context& context, const Plot& command) {
    if (command.csv) return curve_of_file(*command.csv);
    const auto id =
        command.id ? resolve_sweep(context.controller, *command.id) : newest_ended_sweep(context.controller);
    if (!id) return tl::unexpected{id.error()};
    return curve_of_sweep(context, *id);
}

tl::expected<Curve, Error> other_curve(Context& context, const std::string& named) {
    if (!named.ends_with(".csv")) {
        const auto id = resolve_sweep(context.controller, named);
        if (!id) return tl::unexpected{id.error()};
        return curve_of_sweep(context, *id);
    }
    auto curve = curve_of_file(named);
    if (curve && curve->name.empty()) curve->name = named.substr(named.find_last_of('/') + 1);
    return curve;
}

tl::expected<double, Error> headroom_of(const std::string& text) {
    const bool percent = text.ends_with('%');
    const auto value = parse_number(percent ? text.substr(0, text.size() - 1) : text);
    const double share = value ? (percent ? *value / 100 : *value) : -1;
    if (share >= 0 && share < 1) return share;
    return tl::unexpected{
        invalid(fmt::format("--headroom \"{}\" is not a share below 100%; write 20% or 0.2", text))};
}

tl::expected<void, Error> draw_file(Context& context, const Curve& curve, chart::ChartOptions options,
                                    Canvas canvas, const std::string& path) {
    options.canvas = canvas;
    const auto drawn = chart::draw_curve(curve, options);
    if (!drawn) return tl::unexpected{drawn.error()};
    const auto picture = chart::Gnuplot{}.draw(drawn->script);
    if (!picture) return tl::unexpected{picture.error()};
    if (path == "-" && canvas == Canvas::png && context.host.out_is_terminal) {
        return tl::unexpected{invalid("a PNG is nothing for a terminal; give --png a file's name")};
    }
    Output file{context.host, Format::text, path};
    file.raw(canvas == Canvas::svg ? chart::described_svg(*picture, *drawn) : *picture);
    file.finish();
    return {};
}

tl::expected<void, Error> draw_on_terminal(Context& context, const Curve& curve,
                                           chart::ChartOptions options) {
    options.canvas = Canvas::terminal;
    options.width = std::clamp(context.host.columns(), 40, kWidest);
    options.height = context.output.repaints() ? std::clamp(context.host.rows() - kRowsBelow, 12, kHighest)
                                               : kRowsOffTerminal;
    const auto drawn = chart::draw_curve(curve, options);
    if (!drawn) return tl::unexpected{drawn.error()};
    const auto picture = chart::Gnuplot{}.draw(drawn->script);
    if (!picture) return tl::unexpected{picture.error()};
    context.output.raw(chart::trimmed_drawing(*picture));
    for (const auto& line : drawn->legend) context.output.line(" " + line);
    return {};
}

}  // namespace

CommandResult run_plot(Context& context, const Plot& command) {
    chart::ChartOptions options;
    options.title = command.title;
    const auto headroom = headroom_of(command.headroom);
    if (!headroom) return tl::unexpected{headroom.error()};
    options.headroom = *headroom;
    const auto curve = main_curve(context, command);
    if (!curve) return tl::unexpected{curve.error()};
    if (command.compare) {
        auto other = other_curve(context, *command.compare);
        if (!other) return tl::unexpected{other.error()};
        options.compare = std::move(*other);
    }
    std::vector<std::string> written;
    for (const auto& [canvas, path] : {std::pair{Canvas::svg, command.svg}, {Canvas::png, command.png}}) {
        if (!path) continue;
        if (auto done = draw_file(context, *curve, options, canvas, *path); !done)
            return tl::unexpected{done.error()};
        if (*path != "-") written.push_back(*path);
    }
    if (command.terminal || (!command.svg && !command.png)) {
        if (auto done = draw_on_terminal(context, *curve, options); !done)
            return tl::unexpected{done.error()};
    }
    if (!written.empty()) {
        context.output.note(fmt::format("Wrote {}", fmt::join(written, " and ")));
    } else if (!curve->sweep.empty() && !command.csv && !command.svg && !command.png) {
        context.output.note("Next: brink plot " + curve->sweep + " --svg curve.svg");
    }
    return kExitOk;
}

}  // namespace brink::cli

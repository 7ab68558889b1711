#include "daemon/chart/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daemon/cli/format.hpp"

namespace brink::chart {
namespace {

/// A single size has no line; its headroom is shown by one this far to both sides.
constexpr double kShort = 1.25;

std::string size_of(double bytes) { return cli::format_size(std::llround(bytes)); }

}  // namespace

std::vector<Bar> Trace::bars() const {
    std::vector<Bar> all;
    for (const auto& run : runs) all.insert(all.end(), run.begin(), run.end());
    return all;
}

bool Trace::has_uppers() const {
    const auto all = bars();
    return !only_upper.empty() || std::any_of(all.begin(), all.end(), [](const Bar& b) { return b.upper; });
}

bool Trace::has_open_ends() const {
    const auto all = bars();
    return std::any_of(all.begin(), all.end(), [](const Bar& b) { return !b.upper; });
}

Trace trace_of(const Curve& curve) {
    Trace trace;
    trace.name = !curve.name.empty() ? curve.name : curve.sweep.empty() ? curve.cluster : curve.sweep;
    bool interrupted = true;
    for (const auto& row : curve.rows) {
        const auto boundary = row.boundary();
        if (!row.failed && boundary) {
            if (interrupted) trace.runs.emplace_back();
            trace.runs.back().push_back({row.message_bytes, *boundary, row.upper});
            interrupted = false;
            continue;
        }
        interrupted = true;
        if (!row.failed && row.upper) {
            trace.only_upper.push_back({row.message_bytes, *row.upper});
        } else {
            trace.left_out.push_back(size_of(row.message_bytes));
        }
    }
    return trace;
}

Path line_of(const std::vector<Bar>& run, double factor) {
    Path line;
    for (const auto& bar : run) line.push_back({bar.bytes, bar.boundary * factor});
    if (line.size() == 1) {
        const Spot only = line.front();
        line = {{only.x / kShort, only.y}, {only.x * kShort, only.y}};
    }
    return line;
}

std::vector<Path> Figure::headroom_lines() const {
    std::vector<Path> lines;
    if (headroom <= 0) return lines;
    for (const auto& run : main.runs) lines.push_back(line_of(run, 1 - headroom));
    return lines;
}

std::vector<Path> Figure::drawn() const {
    std::vector<Path> paths = headroom_lines();
    const auto add = [&paths](const Trace& trace) {
        for (const auto& run : trace.runs) {
            paths.push_back(line_of(run, 1));
            for (const auto& bar : run) {
                paths.push_back(
                    {{bar.bytes, bar.boundary}, {bar.bytes, bar.upper.value_or(bar.boundary) * 1.2}});
            }
        }
        for (const auto& spot : trace.only_upper) paths.push_back({spot});
    };
    add(main);
    if (other) add(*other);
    return paths;
}

std::string words_of(const Trace& trace) {
    std::string words;
    for (const auto& bar : trace.bars()) {
        words += fmt::format("{}: {} messages/s sustained, {}. ", size_of(bar.bytes),
                             cli::format_count(bar.boundary),
                             bar.upper ? cli::format_count(*bar.upper) + " overloaded"
                                       : std::string{"nothing overloaded was seen"});
    }
    for (const auto& spot : trace.only_upper) {
        words += fmt::format("{}: {} messages/s overloaded, nothing sustained was seen. ", size_of(spot.x),
                             cli::format_count(spot.y));
    }
    return words;
}

}  // namespace brink::chart

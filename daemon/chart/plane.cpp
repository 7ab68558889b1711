#include "daemon/chart/plane.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "daemon/cli/format.hpp"

namespace brink::chart {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kLeastDecades = 1.0;
/// A tick at every power of ten is enough from this many decades on.
constexpr double kManyDecades = 2.2;

/// The range with room at both ends, given as shares of the whole, and at least one decade.
Range with_room(const Range& range, double before, double after) {
    const double inside = std::max(range.decades(), kLeastDecades * (1 - before - after));
    const double spare = (inside - range.decades()) / 2;
    const double whole = inside / (1 - before - after);
    return {range.from / std::pow(10.0, spare + before * whole),
            range.to * std::pow(10.0, spare + after * whole)};
}

template <class Label>
std::vector<Tick> ticks(const Range& range, Label label) {
    const bool dense = range.decades() < kManyDecades;
    std::vector<Tick> result;
    const int last = static_cast<int>(std::ceil(std::log10(range.to)));
    for (int power = static_cast<int>(std::floor(std::log10(range.from))); power <= last; ++power) {
        for (int digit = 1; digit <= 9; ++digit) {
            const double at = digit * std::pow(10.0, power);
            if (!range.contains(at)) continue;
            const bool major = digit == 1 || (dense && (digit == 2 || digit == 5));
            result.push_back({at, major ? label(at) : std::string{}});
        }
    }
    return result;
}

double distance(const Plane& plane, const Spot& a, const Spot& b) {
    return std::hypot(plane.across(a.x) - plane.across(b.x), plane.up(a.y) - plane.up(b.y));
}

/// How near a label that lies along a diagonal comes to what is drawn. Beyond three quarters of a label's
/// width farther is no better.
double clearance(const Plane& plane, const Path& label, const Path& obstacles, double enough) {
    double nearest = enough;
    for (const auto& own : label) {
        for (const auto& other : obstacles) nearest = std::min(nearest, distance(plane, own, other));
    }
    return nearest;
}

/// The middle of the label: of the free places the one nearest to the lower right end.
Spot place_label(const Plane& plane, const Diagonal& line, const Path& obstacles, double label_width) {
    const Path path = along(plane, line.from, line.to, label_width / 8);
    const double length = distance(plane, line.from, line.to);
    const double step = path.size() > 1 ? length / static_cast<double>(path.size() - 1) : length;
    const auto half = static_cast<std::size_t>(std::ceil(0.65 * label_width / std::max(step, 1e-9)));
    Spot best = path[path.size() / 2];
    double best_clearance = -1;
    for (std::size_t middle = path.size(); middle-- > 0;) {
        if (middle < half || middle + half >= path.size()) continue;
        const auto first = path.begin() + static_cast<std::ptrdiff_t>(middle - half);
        const Path label{first, first + static_cast<std::ptrdiff_t>(2 * half + 1)};
        const double free = clearance(plane, label, obstacles, 0.75 * label_width);
        if (free > best_clearance + 1e-9) {
            best_clearance = free;
            best = path[middle];
        }
    }
    return best;
}

}  // namespace

double Range::decades() const { return std::log10(to / from); }

double Plane::across(double bytes) const { return std::log10(bytes / x.from) / x.decades() * width; }
double Plane::up(double rate) const { return std::log10(rate / y.from) / y.decades() * height; }
double Plane::bytes_at(double across) const { return x.from * std::pow(10.0, across / width * x.decades()); }
double Plane::rate_at(double up) const { return y.from * std::pow(10.0, up / height * y.decades()); }
double Plane::diagonal_angle() const {
    return -std::atan2(height / y.decades(), width / x.decades()) * 180 / kPi;
}

Plane plane_around(const std::vector<Curve>& curves, double headroom, double width, double height,
                   const Room& room) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    Range x{kNone, 0};
    Range y{kNone, 0};
    for (const auto& curve : curves) {
        for (const auto& row : curve.rows) {
            if (row.failed) continue;
            for (const auto& end : {row.lower, row.upper, row.measured}) {
                if (!end) continue;
                x = {std::min(x.from, row.message_bytes), std::max(x.to, row.message_bytes)};
                y = {std::min(y.from, *end), std::max(y.to, *end)};
            }
            if (const auto boundary = row.boundary()) y.from = std::min(y.from, *boundary * (1 - headroom));
        }
    }
    if (x.to <= 0) return {};
    return {with_room(x, room.beside / width, room.beside / width),
            with_room(y, room.below / height, room.above / height), width, height};
}

std::vector<Tick> size_ticks(const Range& range) {
    return ticks(range, [](double bytes) {
        // Below one byte there is nothing to name; a wide view may reach there.
        return bytes < 1 ? std::string{} : cli::format_size(static_cast<std::int64_t>(std::llround(bytes)));
    });
}

std::vector<Tick> rate_ticks(const Range& range) {
    return ticks(range, [](double rate) {
        static constexpr std::array<std::pair<double, const char*>, 3> kUnits{
            {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
        for (const auto& [factor, name] : kUnits) {
            if (rate >= factor * 0.999) return fmt::format("{:.3g}{}", rate / factor, name);
        }
        return fmt::format("{:.3g}", rate);
    });
}

Path along(const Plane& plane, const Spot& from, const Spot& to, double step) {
    const int parts = std::clamp(static_cast<int>(std::ceil(distance(plane, from, to) / step)), 1, 10'000);
    Path path;
    for (int i = 0; i <= parts; ++i) {
        const double share = static_cast<double>(i) / parts;
        path.push_back({from.x * std::pow(to.x / from.x, share), from.y * std::pow(to.y / from.y, share)});
    }
    return path;
}

std::vector<Diagonal> diagonals(const Plane& plane, const std::vector<Path>& drawn, double label_width) {
    Path obstacles;
    for (const auto& path : drawn) {
        for (std::size_t i = 0; i < path.size(); ++i) {
            const auto part = along(plane, path[i], path[std::min(i + 1, path.size() - 1)], label_width / 4);
            obstacles.insert(obstacles.end(), part.begin(), part.end());
        }
    }
    std::vector<Diagonal> result;
    for (const double mb_per_s : {1.0, 10.0, 100.0, 1000.0}) {
        const double throughput = mb_per_s * 1e6;
        const double left = std::max(plane.x.from, throughput / plane.y.to);
        const double right = std::min(plane.x.to, throughput / plane.y.from);
        if (left >= right) continue;
        Diagonal line;
        line.label = fmt::format("{:.0f} MB/s", mb_per_s);
        line.from = {left, throughput / left};
        line.to = {right, throughput / right};
        line.label_at = place_label(plane, line, obstacles, label_width);
        result.push_back(line);
    }
    return result;
}

}  // namespace brink::chart

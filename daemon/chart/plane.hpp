#pragma once
#include <string>
#include <vector>

#include "daemon/chart/curve_rows.hpp"

/// The geometry of a chart with two logarithmic axes: which part of the plane is shown, where ticks,
/// diagonals and their labels go. Pure.
namespace brink::chart {

/// A part of a logarithmic axis, 0 < from < to.
struct Range {
    double from = 1;
    double to = 10;
    [[nodiscard]] double decades() const;
    [[nodiscard]] bool contains(double value) const { return value >= from && value <= to; }
};

/// A position: x bytes/message, y messages/s.
struct Spot {
    double x = 1;
    double y = 1;
};
using Path = std::vector<Spot>;

/// The part of the plane that is shown, and how large it is drawn: pixels, or characters.
struct Plane {
    Range x{};
    Range y{};
    double width = 1;
    double height = 1;

    /// How far from the left and from the bottom a value lies.
    [[nodiscard]] double across(double bytes) const;
    [[nodiscard]] double up(double rate) const;
    /// The values there.
    [[nodiscard]] double bytes_at(double across) const;
    [[nodiscard]] double rate_at(double up) const;
    /// Degrees, against the horizontal, of a line of constant throughput as drawn; negative: it falls.
    [[nodiscard]] double diagonal_angle() const;
};

/// Room to keep free around what is drawn, in the plane's pixels or characters.
struct Room {
    double beside = 0;
    double below = 0;
    double above = 0;
};
/// A plane, `width` × `height`, that shows every end of the curves and the headroom below them, with room
/// around; at least one decade wide and high. `headroom` in [0, 1).
Plane plane_around(const std::vector<Curve>& curves, double headroom, double width, double height,
                   const Room& room);

struct Tick {
    double at = 1;
    std::string label{};  ///< empty: a minor tick
};
/// Powers of ten, where these are fewer than three also 2 and 5; the rest minor.
std::vector<Tick> size_ticks(const Range& range);
std::vector<Tick> rate_ticks(const Range& range);

/// A diagonal of constant payload throughput, cut to the plane.
struct Diagonal {
    std::string label{};  ///< `10 MB/s`
    Spot from{};          ///< upper left
    Spot to{};            ///< lower right
    Spot label_at{};      ///< a spot on it for the middle of the label
};
/// Those of 1, 10, 100 and 1000 MB/s that cross the plane. Their labels, `label_width` wide, are put where
/// they are farthest from `drawn`.
std::vector<Diagonal> diagonals(const Plane& plane, const std::vector<Path>& drawn, double label_width);

/// Spots on the straight line (as drawn) between two spots, about one a `step`; both ends included.
Path along(const Plane& plane, const Spot& from, const Spot& to, double step);

}  // namespace brink::chart

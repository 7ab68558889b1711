#pragma once
#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "search/error.hpp"
#include "search/units.hpp"

namespace brink {

/// What a calibration step measured: the busy share of the busiest broker above its share at rest, in [0, 1].
struct CalibrationReading {
    double busy = 0;
    /// Something other than the brokers' IO threads ended it: agents at their limit.
    bool generator_limited = false;
    /// A rule that does not look at IO threads fired: the boundary lies below this load.
    bool overloaded_otherwise = false;
};

/// Runs ten producers at this rate each, briefly, and says how busy the busiest broker was.
using CalibrationStep = std::function<tl::expected<CalibrationReading, Error>(MessagesPerSecond rate_each,
                                                                              const std::string& why)>;

/// Finds `rate_each` for a point: ten producers at 10 msg/s each are doubled until the busiest broker is at
/// least 20 % busy; that is extrapolated to 80 % and divided by fifty, rounded to two digits. Where a reading
/// is far from 20 %, several doublings are made at once; where the first step already saturates a broker, the
/// rate is quartered instead. Where the load was overloaded otherwise (a quota), however little the brokers
/// had to do, the same load is divided by fifty. The reading that ends it is taken twice, since cold brokers
/// look busier than they are. `expected` is the rate that other points let expect, which only brokers that
/// are warm have: it is tried first, at about 40 % busy, and one reading is then enough. Pure apart from
/// `step`. Errors: those of `step`; invalid_input after 24 steps.
tl::expected<MessagesPerSecond, Error> calibrate_rate(const CalibrationStep& step,
                                                      std::optional<MessagesPerSecond> expected = {});

/// Rounds to two significant digits (1234 → 1200).
double two_digits(double value);

}  // namespace brink

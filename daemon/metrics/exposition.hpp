#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "search/error.hpp"

namespace brink {

/// One sample line. The views point into the text or into the parser's scratch space and live as long as the
/// callback.
struct ExpositionSample {
    std::string_view name;
    /// Unescaped label values in order of appearance.
    const std::vector<std::pair<std::string_view, std::string_view>>& labels;
    double value;
    std::string_view type;  ///< counter, gauge, untyped …; empty when the scrape does not say
};

struct ExpositionStats {
    std::size_t samples = 0;
    std::size_t bad_lines = 0;  ///< lines that are neither sample nor comment: skipped
};

/// Reads Prometheus text 0.0.4 and OpenMetrics 1.0, line by line, tolerant: a bad line is counted and
/// skipped. `wanted(name)` is asked first, so that families of no interest cost one look at their name. Pure;
/// never throws.
ExpositionStats parse_exposition(std::string_view text, const std::function<bool(std::string_view)>& wanted,
                                 const std::function<void(const ExpositionSample&)>& sink);

}  // namespace brink

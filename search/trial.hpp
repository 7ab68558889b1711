#pragma once
#include <optional>
#include <string>

#include "search/units.hpp"

namespace brink {

/// The traffic of one trial: `producers` that each send `rate_each` messages of `message_bytes`.
struct Load {
    ProducerCount producers;
    MessagesPerSecond rate_each;
    MessageSize message_bytes;

    [[nodiscard]] MessagesPerSecond offered() const { return producers * rate_each; }
    bool operator==(const Load&) const = default;
};

/// What a trial showed. `invalid` means "we do not know" and counts as neither side.
enum class VerdictKind { sustained, overloaded, generator_limited, invalid };

/// The word used in the API, the database and on screen.
const char* to_string(VerdictKind kind);
/// The inverse of `to_string`; nothing for any other word.
std::optional<VerdictKind> verdict_kind_from(const std::string& word);

/// What a search needs to know of a finished trial.
struct TrialOutcome {
    ProducerCount producers;
    VerdictKind verdict = VerdictKind::invalid;
    /// Idle share of the worst broker in [0, 1], where it was measured.
    std::optional<double> worst_idle{};
    /// Half-width of `worst_idle` at 95 %, same unit; 0 where it is not known.
    double idle_uncertainty = 0;
    /// Whether idle alone told the load apart: false when another rule (churn, delivery …) fired.
    bool decided_by_idle = true;
    /// Why, in one sentence; shown when a point gives up.
    std::string reason{};
};

}  // namespace brink

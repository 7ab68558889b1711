#pragma once
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "search/trial.hpp"

namespace brink {

/// How a point is searched. Counts are producers.
struct SearchSettings {
    /// Relative margin in (0, 1): done when upper − lower ≤ max(1, margin × upper).
    double margin = 0.05;
    /// Top of the window; nothing means `auto`: found by doubling from `hint`.
    std::optional<ProducerCount> max{};
    /// Where `auto` looks first; ≥ 1. The resolved rate makes 50 producers the expected boundary.
    ProducerCount hint{50};
    /// `auto` never goes above this many; ≥ 1.
    ProducerCount ceiling{100'000};
    /// Where the idle rule draws the line, in (0, 1): what a prediction aims at.
    double io_idle_below = 0.20;
    /// How many invalid trials of a point are tried again before the point fails; ≥ 0.
    int invalid_retries = 3;
};

/// Try this load next.
struct TryLoad {
    ProducerCount producers;
    /// Why this one, in one sentence for people.
    std::string why;
};

/// The point is done. `lower` is the highest load seen sustained below every overloaded one, `upper` the
/// lowest seen overloaded; an end that was never seen is empty and named in `flags`.
struct PointDone {
    std::optional<ProducerCount> lower;
    std::optional<ProducerCount> upper;
    /// Of: at_least (nothing overloaded), generator_limited, below_one (one producer overloads), irregular.
    std::vector<std::string> flags;
};

/// The point cannot be answered.
struct PointFailed {
    std::string reason;
};

using SearchStep = std::variant<TryLoad, PointDone, PointFailed>;

/// Finds a boundary as a fold over a point's trials: it holds nothing that feeding it the recorded outcomes
/// in order would not rebuild, so a replay after a crash asks for the very next load. Not thread-safe; no
/// I/O.
class BoundarySearch {
  public:
    virtual ~BoundarySearch() = default;
    /// What to do now. Pure: asked twice, it answers the same.
    [[nodiscard]] virtual SearchStep next() const = 0;
    /// Takes the outcome of a trial, whatever load it was at.
    virtual void record(const TrialOutcome& outcome) = 0;
};

/// The strategies by name. Nothing for a name that is none.
std::unique_ptr<BoundarySearch> make_search(const std::string& strategy, const SearchSettings& settings);
/// Names that `make_search` takes, default first.
const std::vector<std::string>& search_strategies();

}  // namespace brink

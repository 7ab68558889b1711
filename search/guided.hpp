#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/boundary_search.hpp"
#include "search/load_evidence.hpp"

namespace brink {

/// A bracket like bisection's, with the next load predicted by the utilisation law instead of halved: a
/// little below the prediction first, then the smallest step above it that closes the bracket. Midpoints take
/// over where predictions do not help. Readings too near the threshold are repeated; a point is done only
/// when both ends of its bracket stand. Not thread-safe; no I/O.
class Guided final : public BoundarySearch {
  public:
    explicit Guided(SearchSettings settings) : settings_(settings) {}
    [[nodiscard]] SearchStep next() const override;
    void record(const TrialOutcome& outcome) override { trials_.push_back(outcome); }

  private:
    using Evidence = std::map<int, LoadEvidence>;
    struct Bracket {
        int lower = 0;                ///< 0: nothing was sustained below the upper end
        std::optional<int> upper{};   ///< lowest load that overloads
        std::optional<int> agents{};  ///< lowest load that the agents could not give, where below `upper`
        [[nodiscard]] std::optional<int> top() const { return agents ? agents : upper; }
    };

    [[nodiscard]] static Bracket bracket_of(const Evidence& evidence);
    [[nodiscard]] std::optional<SearchStep> repeat(const Evidence& evidence, const Bracket& bracket) const;
    [[nodiscard]] SearchStep raise(const Evidence& evidence, const Bracket& bracket) const;
    [[nodiscard]] SearchStep narrow(const Evidence& evidence, const Bracket& bracket) const;
    [[nodiscard]] SearchStep middle(const Bracket& bracket, const std::string& because) const;
    [[nodiscard]] PointDone done(const Evidence& evidence, const Bracket& bracket) const;
    [[nodiscard]] TryLoad attempt(int producers, const std::string& why) const;
    /// Whether the last two new loads failed to halve the bracket.
    [[nodiscard]] bool predictions_fail() const;
    /// The widest step up from `lower` that closes a bracket.
    [[nodiscard]] int closing_step(int lower) const;
    [[nodiscard]] int highest() const;

    SearchSettings settings_;
    std::vector<TrialOutcome> trials_;
};

}  // namespace brink

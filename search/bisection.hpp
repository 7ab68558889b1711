#pragma once
#include <optional>
#include <string>
#include <vector>

#include "search/boundary_search.hpp"

namespace brink {

/// The method as published: a window from 0 to a load that overloads, its midpoint tried, one trial each.
/// With `max` on `auto` the top is found first, by doubling from the hint. Not thread-safe; no I/O.
class Bisection final : public BoundarySearch {
  public:
    explicit Bisection(SearchSettings settings) : settings_(settings) {}
    [[nodiscard]] SearchStep next() const override;
    void record(const TrialOutcome& outcome) override;

  private:
    [[nodiscard]] SearchStep raise_top() const;
    [[nodiscard]] SearchStep close(int top) const;
    [[nodiscard]] PointDone done() const;
    [[nodiscard]] TryLoad attempt(int producers, std::string why) const;
    /// Highest load sustained below every overloaded one; 0 when there is none.
    [[nodiscard]] int lower() const;

    SearchSettings settings_;
    std::vector<int> sustained_;
    std::optional<int> upper_;          ///< lowest load seen overloaded
    std::optional<int> generator_top_;  ///< lowest load that the agents could not give
    int invalid_ = 0;
    std::string last_invalid_;  ///< reason of the last trial where that was invalid
};

}  // namespace brink

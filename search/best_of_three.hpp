#pragma once
#include <vector>

#include "search/bisection.hpp"

namespace brink {

/// Bisection that tries each load until two trials agree, three times at most. Not thread-safe; no I/O.
class BestOfThree final : public BoundarySearch {
  public:
    explicit BestOfThree(const SearchSettings& settings) : settings_(settings), loads_(settings) {}
    [[nodiscard]] SearchStep next() const override;
    void record(const TrialOutcome& outcome) override;

  private:
    SearchSettings settings_;
    Bisection loads_;                      ///< is told of a load once it is decided
    std::vector<TrialOutcome> undecided_;  ///< valid trials of the load in hand
    int invalid_ = 0;
};

}  // namespace brink

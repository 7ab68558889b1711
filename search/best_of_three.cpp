#include "search/best_of_three.hpp"

#include <algorithm>

namespace brink {
namespace {

constexpr int kAgree = 2;

}  // namespace

SearchStep BestOfThree::next() const {
    if (undecided_.empty() || invalid_ > settings_.invalid_retries) return loads_.next();
    return TryLoad{undecided_.front().producers, undecided_.size() == 1
                                                     ? "the same load a second time"
                                                     : "two trials disagreed: a third time"};
}

void BestOfThree::record(const TrialOutcome& outcome) {
    if (outcome.verdict == VerdictKind::invalid) {
        ++invalid_;
        loads_.record(outcome);
        return;
    }
    if (!undecided_.empty() && undecided_.front().producers != outcome.producers) undecided_.clear();
    undecided_.push_back(outcome);
    const auto agreeing = std::count_if(undecided_.begin(), undecided_.end(),
                                        [&](const TrialOutcome& t) { return t.verdict == outcome.verdict; });
    // Three different answers to three trials: the last one is as good as any, and the search must go on.
    if (agreeing < kAgree && undecided_.size() < 3) return;
    loads_.record(outcome);
    undecided_.clear();
}

}  // namespace brink

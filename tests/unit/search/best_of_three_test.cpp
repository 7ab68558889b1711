#include "search/best_of_three.hpp"

#include <doctest/doctest.h>

using namespace brink;

namespace {

TrialOutcome outcome(int producers, VerdictKind verdict) {
    TrialOutcome trial;
    trial.producers = ProducerCount{producers};
    trial.verdict = verdict;
    trial.reason = "why";
    return trial;
}

int asked(const BoundarySearch& search) { return std::get<TryLoad>(search.next()).producers.value; }

}  // namespace

TEST_CASE("BestOfThree: two trials that agree decide a load") {
    BestOfThree search({.margin = 0.05, .max = ProducerCount{200}});
    CHECK(asked(search) == 100);
    search.record(outcome(100, VerdictKind::sustained));
    CHECK(asked(search) == 100);
    search.record(outcome(100, VerdictKind::sustained));
    CHECK(asked(search) == 150);
}

TEST_CASE("BestOfThree: of two that disagree a third is the judge") {
    BestOfThree search({.margin = 0.05, .max = ProducerCount{200}});
    search.record(outcome(100, VerdictKind::sustained));
    search.record(outcome(100, VerdictKind::overloaded));
    CHECK(asked(search) == 100);
    search.record(outcome(100, VerdictKind::overloaded));
    CHECK(asked(search) == 50);
}

TEST_CASE("BestOfThree: an invalid trial counts for neither side, and too many fail the point") {
    BestOfThree search({.margin = 0.05, .max = ProducerCount{200}, .invalid_retries = 1});
    search.record(outcome(100, VerdictKind::sustained));
    search.record(outcome(100, VerdictKind::invalid));
    CHECK(asked(search) == 100);
    search.record(outcome(100, VerdictKind::sustained));
    CHECK(asked(search) == 150);
    search.record(outcome(150, VerdictKind::invalid));
    CHECK(std::holds_alternative<PointFailed>(search.next()));
}

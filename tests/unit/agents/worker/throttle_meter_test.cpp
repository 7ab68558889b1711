#include "agents/worker/throttle_meter.hpp"

#include <doctest/doctest.h>

#include "agents/worker/tally.hpp"

using namespace brink;
using namespace brink::worker;

namespace {

constexpr std::int64_t kStart = 100 * kNsPerSecond;
constexpr std::int64_t at(std::int64_t ms) { return kStart + ms * kNsPerMs; }

/// Counts an answer as a producer does.
void answer(ThrottleMeter& meter, Tally& tally, std::int64_t now_ns, int throttle_ms) {
    const auto span = meter.add(now_ns, throttle_ms);
    tally.count_throttled(now_ns, throttle_ms, span.from_ns, span.to_ns);
}

protocol::SecondFigures second_of(const Tally& tally, std::int64_t second) {
    protocol::SecondFigures figures{.second = second};
    protocol::HistogramCounts lag;
    tally.add_to(figures, lag);
    return figures;
}

}  // namespace

TEST_CASE("ThrottleMeter: times that overlap count once, whichever broker asked for them") {
    ThrottleMeter meter;
    const auto first = meter.add(at(0), 500);
    CHECK(first.to_ns - first.from_ns == 500 * kNsPerMs);
    const auto inside = meter.add(at(100), 200);
    CHECK(inside.to_ns == inside.from_ns);
    const auto beyond = meter.add(at(400), 300);
    CHECK(beyond.from_ns == at(500));
    CHECK(beyond.to_ns == at(700));
    const auto later = meter.add(at(2'000), 10);
    CHECK(later.from_ns == at(2'000));
    const auto none = meter.add(at(3'000), 0);
    CHECK(none.to_ns == none.from_ns);
}

TEST_CASE("Tally: a throttle is counted for the seconds that it holds a producer back in") {
    Tally tally(10);
    ThrottleMeter one;
    ThrottleMeter other;
    answer(one, tally, at(-50), 100);  // before the start nothing is counted
    tally.start(kStart);
    answer(one, tally, at(800), 1'500);
    answer(other, tally, at(900), 100);
    CHECK(second_of(tally, 0).throttled_ms == doctest::Approx(300));  // 200 of one, 100 of the other
    CHECK(second_of(tally, 0).throttled_answers == 2);
    CHECK(second_of(tally, 0).longest_throttle_ms == 1'500);
    CHECK(second_of(tally, 1).throttled_ms == doctest::Approx(1'000));
    CHECK(second_of(tally, 1).throttled_answers == 0);
    CHECK(second_of(tally, 2).throttled_ms == doctest::Approx(300));
    answer(one, tally, at(9'900), 5'000);  // ends after the task
    CHECK(second_of(tally, 9).throttled_ms == doctest::Approx(100));
    answer(other, tally, at(11'000), 100);
    CHECK(second_of(tally, 9).throttled_answers == 1);
}

// The timed series of a real broker, through three exporters, against its truth.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "daemon/metrics/saved_series.hpp"

using namespace brink;

namespace {

const std::string kFolder = std::string{BRINK_TEST_DATA} + "/metrics/series";

struct Truth {
    double seconds = 0;  ///< since the step before
    std::optional<double> idle{};
    bool isr_changed = false;
};

std::map<int, Truth> truth() {
    std::ifstream in{kFolder + "/truth.csv"};
    REQUIRE(in);
    std::map<int, Truth> steps;
    std::string line;
    std::getline(in, line);
    double before = 0;
    while (std::getline(in, line)) {
        std::vector<std::string> cells;
        std::istringstream row{line};
        for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
        Truth step{.seconds = std::stod(cells.at(1)) - before};
        before = std::stod(cells.at(1));
        if (!cells.at(3).empty()) step.idle = std::stod(cells.at(3));
        step.isr_changed = cells.at(10) == "1";
        steps[std::stoi(cells.at(0))] = step;
    }
    return steps;
}

std::vector<ReadScrape> series_of(const std::string& dialect) {
    const SignalReader reader;
    auto all = read_series(kFolder, reader);
    REQUIRE(all);
    std::vector<ReadScrape> one;
    for (const auto& s : *all) {
        if (s.scrape.file.starts_with(dialect)) one.push_back(s);
    }
    REQUIRE(one.size() == 49);
    return one;
}

double true_idle(const std::map<int, Truth>& steps, int from, int to) {
    double idle = 0;
    double seconds = 0;
    for (int seq = from + 1; seq <= to; ++seq) {
        idle += *steps.at(seq).idle * steps.at(seq).seconds;
        seconds += steps.at(seq).seconds;
    }
    return idle / seconds;
}

}  // namespace

TEST_CASE("judge_series: windowed idle is within 0.03 of the truth over 60 s, whatever the exporter") {
    const auto steps = truth();
    for (const char* dialect : {"confluent_0.20.0", "norules_0.20.0", "strimzi_1.0.1"}) {
        CAPTURE(std::string{dialect});
        const auto series = series_of(dialect);
        // Ranges of 60 s and more that lie within one phase: a change of phase inside makes either's timing
        // matter.
        for (const auto& [from, to] : {std::pair{9, 20}, {10, 22}, {9, 22}, {27, 41}, {30, 45}, {33, 48}}) {
            CAPTURE(from);
            const auto judged = judge_series(series, from, to, {});
            REQUIRE(judged.verdict.worst_idle);
            CHECK(*judged.verdict.worst_idle ==
                  doctest::Approx(std::min(1.0, true_idle(steps, from, to))).epsilon(0.03));
            CHECK(std::abs(*judged.verdict.worst_idle - std::min(1.0, true_idle(steps, from, to))) < 0.03);
            CHECK(judged.mode == PoolMode::broker);
        }
    }
}

TEST_CASE("judge_series: overloaded in the overload, sustained before and after it") {
    for (const char* dialect : {"confluent_0.20.0", "norules_0.20.0", "strimzi_1.0.1"}) {
        CAPTURE(std::string{dialect});
        const auto series = series_of(dialect);
        const auto overload = judge_series(series, 8, 23, {});
        CHECK(overload.verdict.kind == VerdictKind::overloaded);
        CHECK(overload.verdict.limited_by == "io_idle");
        CHECK(judge_series(series, 1, 7, {}).verdict.kind == VerdictKind::sustained);
        CHECK(judge_series(series, 26, 49, {}).verdict.kind == VerdictKind::sustained);
    }
}

TEST_CASE("judge_series: steps show where replicas moved") {
    const auto steps = truth();
    const auto judged = judge_series(series_of("strimzi_1.0.1"), 8, 23, {});
    REQUIRE(judged.steps.size() == 15);
    for (const auto& step : judged.steps) {
        CAPTURE(step.to_seq);
        CHECK(step.isr_changed == steps.at(step.to_seq).isr_changed);
    }
}

TEST_CASE("judge_series: too few scrapes, or too short, is invalid and says so") {
    const auto series = series_of("strimzi_1.0.1");
    const auto two = judge_series(series, 8, 9, {});
    CHECK(two.verdict.kind == VerdictKind::invalid);
    CHECK(two.verdict.reasons.front().find("at least 3") != std::string::npos);
    CHECK(judge_series(series, 100, 200, {}).verdict.kind == VerdictKind::invalid);
}

TEST_CASE("judge_series: a combined meter that is saturated is never sustained") {
    std::vector<ReadScrape> series;
    const auto add = [&](double idle_per_s, int count) {
        for (int i = 0; i < count; ++i) {
            const double before = series.empty() ? 1e12 : *series.back().sample->idle_ns;
            ReadScrape s{.scrape = {.seq = static_cast<int>(series.size()) + 1}};
            s.scrape.begun_s = s.scrape.ended_s = 5.0 * static_cast<double>(series.size());
            s.sample = BrokerSample{.at_s = s.scrape.begun_s, .idle_ns = before + idle_per_s * 5e9};
            s.sample->isr_shrinks = 0;
            series.push_back(s);
        }
    };
    SUBCASE("seen at rest too") {
        add(1.98, 12);
        add(1.12, 12);
        CHECK(judge_series(series, 13, 24, {}).verdict.kind == VerdictKind::overloaded);
        CHECK(judge_series(series, 13, 24, {}).mode == PoolMode::combined);
        CHECK(judge_series(series, 1, 12, {}).verdict.kind == VerdictKind::sustained);
    }
    SUBCASE("never seen at rest") {
        add(1.05, 24);
        const auto judged = judge_series(series, 1, 24, {});
        CHECK(judged.verdict.kind == VerdictKind::invalid);
        CHECK(judged.verdict.reasons.front().find("add scrapes at rest") != std::string::npos);
    }
}

TEST_CASE("parse_series_index: columns by name, extras ignored, faults by line") {
    const auto rows =
        parse_series_index("file,extra,epoch_end,epoch_start,seq,broker\r\n\"a,b.txt\",x,12.5,10.5,3,7\r\n");
    REQUIRE(rows);
    CHECK(rows->front().file == "a,b.txt");
    CHECK(rows->front().seq == 3);
    CHECK(rows->front().broker_id == 7);
    CHECK(rows->front().begun_s == 10.5);
    CHECK(parse_series_index("seq,file\n").error().message.find("no column 'epoch_start'") !=
          std::string::npos);
    CHECK(parse_series_index("seq,epoch_start,epoch_end,file\nx,1,2,a\n").error().message.find("line 2") !=
          std::string::npos);
    CHECK(parse_series_index("seq,epoch_start,epoch_end,file\n1,3,2,a\n")
              .error()
              .message.find("before it begins") != std::string::npos);
    CHECK(!parse_series_index(""));
}

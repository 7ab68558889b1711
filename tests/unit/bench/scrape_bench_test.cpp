#include "tests/bench/scrape_bench.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "daemon/metrics/exposition.hpp"
#include "tests/bench/metrics_page.hpp"

using namespace brink;
using namespace brink::bench;

namespace {

const std::string kCapture =
    std::string{BRINK_TEST_DATA} + "/metrics/no_rules_default_format__agent0.20.0.txt";

std::string made_page(std::size_t bytes) {
    const auto capture = load_page(kCapture);
    REQUIRE(capture);
    return grow_page(*capture, bytes);
}

}  // namespace

TEST_CASE("grow_page: as long as asked for, and each of its lines is one of a real page") {
    const auto page = made_page(300'000);
    CHECK(page.size() >= 300'000);
    CHECK(page.size() < 301'000);
    CHECK(page.find("topic=\"orders-00000\"") != std::string::npos);
    CHECK(page.find("topic=\"orders-00100\"") != std::string::npos);
    CHECK(page.find("request=\"WriteTxnMarkers\"") != std::string::npos);
    CHECK(page.find("topic=\"kcap-r3\"") == std::string::npos);
    std::size_t topics = 0;
    const auto stats = parse_exposition(page, {}, [&](const ExpositionSample& sample) {
        topics += std::any_of(sample.labels.begin(), sample.labels.end(),
                              [](const auto& label) { return label.first == "topic"; })
                      ? 1
                      : 0;
    });
    CHECK(stats.bad_lines == 0);
    CHECK(topics > 6 * 100);
    CHECK(grow_page("a 1\nb{request=\"Fetch\"} 2\n", 10'000).size() < 3'000);
}

TEST_CASE("run_scrape: each way reads the whole page, and says how fast") {
    const auto page = made_page(100'000);
    const auto rows = run_scrape(page, 3, std::chrono::milliseconds{1});
    REQUIRE(rows.size() == 5);
    for (const auto& row : rows) {
        CAPTURE(row.what);
        CHECK(row.mb_per_s > 1);
        CHECK(row.mb_per_s < 1e6);
    }
    const auto every = parse_exposition(page, {}, {}).samples;
    CHECK(rows[0].what == "signals");
    CHECK(rows[0].samples > 100);
    CHECK(rows[0].samples < every * 2 / 3);
    CHECK(rows[1].samples == rows[0].samples);
    CHECK(rows[2].samples == every);
    CHECK(rows[3].samples > 5);  // signals
    CHECK(rows[4].samples == static_cast<std::size_t>(std::count(page.begin(), page.end(), '\n')));
}

TEST_CASE("run_scrape: of a real broker's whole page little is needed, and all of it can be read") {
    const auto page = load_page(std::string{BRINK_TEST_DATA} +
                                "/scrapes/kafka_4.1.2__200_partitions__no_rules_lowercased.txt.gz");
    REQUIRE(page);
    CHECK(page->size() == 1'197'652);
    const auto rows = run_scrape(*page, 1, std::chrono::milliseconds{1});
    CHECK(rows[0].samples >= 50);
    CHECK(rows[0].samples < 1'500);  // all requests share the names of the produce requests' times
    CHECK(rows[2].samples == 10'795);
    CHECK(parse_exposition(*page, {}, {}).bad_lines == 0);
    CHECK(rows[3].samples >= 12);
}

TEST_CASE("signal_names: none twice, none that the set would spell otherwise") {
    const auto names = signal_names();
    CHECK(names.size() > 20);
    const NameSet set{names};
    CHECK(set.names() == names);
    for (std::size_t i = 0; i < names.size(); ++i) CHECK(set.find(names[i]) == static_cast<int>(i));
}

TEST_CASE("load_page: says which file it cannot read") {
    const auto page = load_page("/no/such/page.txt");
    REQUIRE_FALSE(page.has_value());
    CHECK(page.error().message.find("/no/such/page.txt") != std::string::npos);
}

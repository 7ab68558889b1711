#include "daemon/metrics/stored_scrapes.hpp"

#include <doctest/doctest.h>

using namespace brink::prometheus;

TEST_CASE("scrapes_of: one scrape a timestamp, as the exporter's page") {
    const std::vector<StoredSeries> series{
        {"up", {{"instance", "h:1"}}, {{1000, "1"}, {2000, "0"}}},
        {"scrape_duration_seconds", {{"instance", "h:1"}}, {{1000, "0.25"}, {2000, "NaN"}}},
        {"b_total", {{"instance", "h:1"}, {"topic", "a\"b\\c\nd"}}, {{1000, "1e+06"}}},
        {"a",
         {{"instance", "h:1"}, {"exported_instance", "own"}, {"exported_x", "y"}},
         {{500, "3"}, {1000, "+Inf"}}},
        {"b_total", {{"instance", "h:1"}, {"topic", "t"}}, {{1000, "2"}}}};
    const PageRules rules{.target = {{"instance", "h:1"}}, .types = {{"b", "counter"}}};
    const auto scrapes = scrapes_of(series, rules, 500);
    REQUIRE(scrapes.size() == 2);
    CHECK(scrapes[0].at_ms == 1000);
    CHECK(scrapes[0].up == true);
    CHECK(scrapes[0].took_s == 0.25);
    CHECK(scrapes[0].page ==
          "a{instance=\"own\",exported_x=\"y\"} +Inf\n"
          "# TYPE b counter\n"
          "b_total{topic=\"a\\\"b\\\\c\\nd\"} 1e+06\n"
          "b_total{topic=\"t\"} 2\n");
    CHECK(scrapes[1].at_ms == 2000);
    CHECK(scrapes[1].up == false);
    CHECK_FALSE(scrapes[1].took_s);
    CHECK(scrapes[1].page.empty());
}

TEST_CASE("scrapes_of: a type is found by either spelling of a counter, and by no other family") {
    const auto page = [](const std::string& name, const std::string& family) {
        const PageRules rules{.target = {}, .types = {{family, "gauge"}}};
        return scrapes_of({{name, {}, {{1, "1"}}}}, rules, 0).at(0).page;
    };
    CHECK(page("x_total", "x") == "# TYPE x gauge\nx_total 1\n");
    CHECK(page("x_count", "x_count_total") == "# TYPE x_count_total gauge\nx_count 1\n");
    CHECK(page("x", "x") == "# TYPE x gauge\nx 1\n");
    CHECK(page("x_bytes", "x") == "x_bytes 1\n");
}

TEST_CASE("targets_of: the targets that are up or not, else what instance and job tell apart") {
    CHECK(targets_of({{"up", {{"instance", "a"}, {"pod", "p"}}, {}}, {"x", {{"instance", "b"}}, {}}}) ==
          std::vector<Labels>{{{"instance", "a"}, {"pod", "p"}}});
    CHECK(targets_of({{"x", {{"instance", "a"}, {"topic", "t"}}, {}},
                      {"x", {{"instance", "a"}, {"topic", "u"}}, {}},
                      {"y", {{"instance", "b"}}, {}}}) ==
          std::vector<Labels>{{{"instance", "a"}}, {{"instance", "b"}}});
    CHECK(targets_of({}).empty());
}

TEST_CASE("interval_of: the median step, whatever was missed") {
    CHECK_FALSE(interval_of({}));
    CHECK_FALSE(interval_of({{"up", {}, {{1000, "1"}}}}));
    CHECK(interval_of(
              {{"up", {}, {{1000, "1"}, {16'000, "1"}, {31'002, "1"}, {91'000, "1"}, {106'000, "1"}}}}) ==
          15);
}

TEST_CASE("selector: quotes what labels may hold, and the address keeps it") {
    CHECK(selector({{"a", "x\"y\\z\n"}, {"b", "c"}}, "up|kafka_.*") ==
          R"({a="x\"y\\z\n",b="c",__name__=~"up|kafka_.*"})");
    CHECK(any_of({"a_b", "c:d"}) == "(?i:(a_b|c\\:d)(_total)?)|up|scrape_duration_seconds");
    CHECK(percent_encoded("{a=\"ä b\"}[30s]") == "%7Ba%3D%22%C3%A4%20b%22%7D%5B30s%5D");
}

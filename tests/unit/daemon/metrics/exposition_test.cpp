#include "daemon/metrics/exposition.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using namespace brink;

namespace {

struct Seen {
    std::string name;
    std::vector<std::pair<std::string, std::string>> labels;
    double value = 0;
    std::string type;
};

struct Page {
    ExpositionStats stats;
    std::vector<Seen> samples;
};

Page parse(std::string_view text) {
    Page page;
    page.stats = parse_exposition(
        text, [](std::string_view) { return true; },
        [&](const ExpositionSample& sample) {
            Seen seen{std::string{sample.name}, {}, sample.value, std::string{sample.type}};
            for (const auto& [key, value] : sample.labels) seen.labels.emplace_back(key, value);
            page.samples.push_back(seen);
        });
    return page;
}

std::string file(const std::string& name) {
    std::ifstream in{std::string{BRINK_TEST_DATA} + "/metrics/" + name, std::ios::binary};
    REQUIRE(in);
    return {std::istreambuf_iterator<char>{in}, {}};
}

using Labels = std::vector<std::pair<std::string, std::string>>;

}  // namespace

TEST_CASE("parse_exposition: reads everything of the torture page") {
    const auto page = parse(file("parser_torture.txt"));
    REQUIRE(page.samples.size() == 14);
    CHECK(page.stats.samples == 14);
    CHECK(page.stats.bad_lines == 1);  // the hexadecimal number
    const auto& s = page.samples;
    CHECK(s[0].value == 1.0300000000000002);
    CHECK(s[0].type == "gauge");
    CHECK(s[1].labels.empty());
    CHECK(s[1].type.empty());
    CHECK(s[2].value == 7);
    CHECK(s[3].labels == Labels{{"topic", "we\"ird\\topic,with={braces}"}});
    CHECK(s[3].value == 3.853481297E9);
    CHECK(s[3].type == "untyped");
    CHECK(s[4].labels == Labels{{"topic", "spaces"}});
    CHECK(s[4].value == 1000);
    CHECK(s[5].labels == Labels{{"topic", "новая-тема"}});
    CHECK(s[6].labels == Labels{{"topic", "line\nbreak"}});
    CHECK((std::isinf(s[6].value) && s[6].value > 0));
    CHECK(std::isnan(s[7].value));
    REQUIRE(s[8].labels.size() == 4);
    CHECK(s[8].value == 5.801730204789261E-169);
    CHECK(s[9].value == 166161728092.0);
    CHECK((std::isinf(s[10].value) && s[10].value < 0));
    CHECK(s[11].value == 1);
    CHECK(s[12].value == 2);
    CHECK(s[13].name == "last_line_has_no_newline");
    CHECK(s[13].value == 0.5);
}

TEST_CASE("parse_exposition: types follow the quirks of both exporter generations") {
    const auto old_style = parse("# TYPE x_count_total counter\nx_count{a=\"b\",} 5.0\n");
    CHECK(old_style.samples.at(0).type == "counter");
    const auto open_metrics = parse("# TYPE x counter\nx_total 5.0\nx_created 1.7e9\n# EOF\n");
    CHECK(open_metrics.samples.at(0).type == "counter");
    CHECK(open_metrics.samples.at(1).type.empty());
    CHECK(open_metrics.stats.bad_lines == 0);
    const auto summary =
        parse("# TYPE s summary\ns{quantile=\"0.5\"} 1\ns_count 2\ns_sum 3\nsomething_else 4\n");
    CHECK(summary.samples.at(1).type == "summary");
    CHECK(summary.samples.at(2).type == "summary");
    CHECK(summary.samples.at(3).type.empty());
}

TEST_CASE("parse_exposition: line ends, blanks, timestamps and exemplars") {
    const auto page = parse(
        "a 1\r\n\r\n  b\t2 1796071710561\r\n"
        "c_bucket{le=\"1\"} 5 # {trace_id=\"x\"} 0.5 1234.5\n"
        "d_total 6 1234.5 # {trace_id=\"x y\"} 0.5\n"
        "e{} 0.000000\nf +1e-3");
    REQUIRE(page.samples.size() == 6);
    CHECK(page.stats.bad_lines == 0);
    const std::vector<double> values{1, 2, 5, 6, 0, 0.001};
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(page.samples[i].value == values[i]);
    CHECK(page.samples[2].labels == Labels{{"le", "1"}});
}

TEST_CASE("parse_exposition: lines that are no samples are counted, and the others still read") {
    for (const char* bad : {"a",         "a ",           "a{",
                            "a{}",       "a{b} 1",       "a{b=} 1",
                            "a{b=\"} 1", "a{b=\"c\\",    "a{b=\"c\" d=\"e\"} 1",
                            "a{,} 1",    "a one",        "a 0x10",
                            "a 1e999",   "a 1 tomorrow", "a 1 2 3",
                            "a +-1",     "a +",          "1a 1",
                            "a-b 1",     "<html>",       "{\"a\": 1}",
                            "a 1_000",   "a{b=\"c\"}"}) {
        CAPTURE(std::string{bad});
        const auto page = parse(std::string{"before 1\n"} + bad + "\nafter 2\n");
        CHECK(page.stats.bad_lines == 1);
        REQUIRE(page.samples.size() == 2);
        CHECK(page.samples[1].value == 2);
    }
}

TEST_CASE("parse_exposition: unwanted families cost a look at their name only") {
    std::vector<std::string> asked;
    int sunk = 0;
    const auto stats = parse_exposition(
        "a{x=\"1\"} 1\nb{this is not looked at\nc 3\n",
        [&](std::string_view name) {
            asked.emplace_back(name);
            return name == "c";
        },
        [&](const ExpositionSample& sample) {
            ++sunk;
            CHECK(sample.name == "c");
        });
    CHECK(asked == std::vector<std::string>{"a", "b", "c"});
    CHECK(sunk == 1);
    CHECK(stats.samples == 3);
    CHECK(stats.bad_lines == 0);
}

TEST_CASE("parse_exposition: survives any bytes") {
    const auto torture = file("parser_torture.txt");
    for (std::size_t cut = 0; cut <= torture.size(); ++cut) parse(std::string_view{torture}.substr(0, cut));
    std::mt19937 random{7};  // NOLINT: the same bytes every time
    const std::string_view likely = "a_{}=\",\\ \n\r#1e+.NInf\t";
    for (int round = 0; round < 3000; ++round) {
        auto text = round % 3 == 0 ? torture : std::string(200, ' ');
        for (int change = 0; change < 60; ++change) {
            const auto at = random() % text.size();
            text[at] = random() % 4 == 0 ? static_cast<char>(random()) : likely[random() % likely.size()];
        }
        const auto page = parse(text);
        CHECK(page.samples.size() == page.stats.samples);
    }
}

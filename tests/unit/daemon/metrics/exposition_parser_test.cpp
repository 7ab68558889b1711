#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "daemon/metrics/exposition.hpp"

using namespace brink;

namespace {

/// Everything a parse says, so that two of them can be held against each other: NaN and all.
struct Said {
    std::string samples;
    std::string end;  ///< figures, or the error
    bool operator==(const Said&) const = default;
};

struct Recorder {
    std::string text;
    void operator()(const ExpositionSample& sample) {
        text.append(sample.name).append(" #").append(std::to_string(sample.name_index)).append(" ");
        for (const auto& [key, value] : sample.labels) text.append(key).append("=").append(value).append(";");
        text.append(" ").append(std::to_string(sample.value)).append(" ").append(sample.type).append("\n");
    }
};

std::string end_of(ExpositionParser& parser) {
    const auto stats = parser.finish();
    if (!stats) return stats.error().message;
    return std::to_string(stats->samples) + " samples, " + std::to_string(stats->bad_lines) + " bad";
}

/// Parses `text` in pieces whose sizes `next_size` gives, each in memory of its own that is gone afterwards.
template <class Size>
Said parse_in_pieces(std::string_view text, Size next_size, ExpositionLimits limits = {}) {
    Recorder recorder;
    const auto all = [](std::string_view) { return true; };
    ExpositionParser parser{all, recorder, limits};
    while (!text.empty()) {
        const auto piece = std::make_unique<std::string>(text.substr(0, next_size()));
        text.remove_prefix(piece->size());
        parser.feed(*piece);
        std::fill(piece->begin(), piece->end(), '?');
    }
    auto end = end_of(parser);
    return {std::move(recorder.text), std::move(end)};
}

Said parse(std::string_view text, ExpositionLimits limits = {}) {
    return parse_in_pieces(text, [&] { return text.size(); }, limits);
}

std::string content(const std::filesystem::path& path) {
    std::ifstream in{path, std::ios::binary};
    REQUIRE(in);
    return {std::istreambuf_iterator<char>{in}, {}};
}

std::vector<std::string> all_pages() {
    std::vector<std::string> pages;
    for (const auto& entry : std::filesystem::directory_iterator{std::string{BRINK_TEST_DATA} + "/metrics"}) {
        if (entry.is_regular_file()) pages.push_back(content(entry.path()));
    }
    CHECK(pages.size() > 20);
    return pages;
}

const std::string kHard =
    "# TYPE a counter\r\na_total{x=\"1\\\"\\\\\\n\", y=\"2\",} 1 17\r\n\n \t\r\n#\n# TYPE\na 2\n # TYPE b "
    "gauge\n"
    "b{long=\"0123456789012345678901234567890123456789\"} 3\n  b 4 # {t=\"x\"} 1\nbad{\nb nan\nb -Inf\r\r\n"
    "c 1\nc{} 2\nc\t3\ncc 4\n# EOFish\n#EOF\nlast 5\n# EOF\nafter 6\n{{{\n# TYPE x counter\nx 1";

}  // namespace

TEST_CASE("ExpositionParser: any two pieces give the same as the whole") {
    auto pages = std::vector<std::string>{kHard};
    for (const char* name : {"parser_torture.txt", "jmx_target_down__first_scrape__agent0.20.0.txt"}) {
        pages.push_back(content(std::string{BRINK_TEST_DATA} + "/metrics/" + name));
    }
    for (const auto& page : pages) {
        const auto whole = parse(page);
        CHECK_FALSE(whole.samples.empty());
        for (std::size_t cut = 1; cut < page.size(); ++cut) {
            std::size_t size = cut;
            const auto split = parse_in_pieces(page, [&] { return std::exchange(size, page.size()); });
            CAPTURE(cut);
            CHECK(split == whole);
        }
    }
}

TEST_CASE("ExpositionParser: any pieces of any page give the same as the whole, also with lines too long") {
    std::mt19937 random{5};  // NOLINT: the same pieces every time
    auto pages = all_pages();
    pages.push_back(kHard);
    for (const auto& page : pages) {
        for (const std::size_t longest : {1UL, 20UL, 64UL, 120UL, 100'000UL}) {
            const ExpositionLimits limits{.max_line_bytes = longest};
            const auto whole = parse(page, limits);
            for (const std::size_t size : {1UL, 2UL, 3UL, 7UL, 63UL, 1000UL}) {
                CAPTURE(size);
                CHECK(parse_in_pieces(page, [&] { return size; }, limits) == whole);
            }
            CHECK(parse_in_pieces(page, [&] { return 1 + random() % 90; }, limits) == whole);
        }
    }
}

TEST_CASE("ExpositionParser: selects by name, and says which") {
    const NameSet names{{"c", "kafka_server_replicamanager_count", "b"}};
    Recorder recorder;
    ExpositionParser parser{names, recorder};
    CHECK(
        parser.feed("a{x=\"1\"} 1\nb{x=\"2\"} 2\nB_total 3\nb this is no sample\nbb 4\nc 5\n"
                    "# TYPE kafka_server_ReplicaManager_Count untyped\n"
                    "kafka_server_ReplicaManager_Count{name=\"IsrShrinksPerSec\",} 16.0\n"));
    CHECK(end_of(parser) == "6 samples, 1 bad");
    CHECK(recorder.text ==
          "b #2 x=2; 2.000000 \nB_total #2  3.000000 \nc #0  5.000000 \n"
          "kafka_server_ReplicaManager_Count #1 name=IsrShrinksPerSec; 16.000000 untyped\n");
}

TEST_CASE("ExpositionParser: the name of the line before is not taken for a longer or shorter one") {
    CHECK(parse("ab 1\nab{} 2\nabc 3\na 4\nab 5\nab-c 6\nab\n").samples ==
          "ab #0  1.000000 \nab #0  2.000000 \nabc #0  3.000000 \na #0  4.000000 \nab #0  5.000000 \n");
    CHECK(parse("ab 1\nab{} 2\nabc 3\na 4\nab 5\nab-c 6\nab\n").end == "5 samples, 2 bad");
}

TEST_CASE("ExpositionParser: a TYPE line between lines of one name counts for those after it") {
    CHECK(parse("# TYPE a gauge\na 1\na 2\n# TYPE a counter\na 3\n# TYPE other gauge\na 4\n").samples ==
          "a #0  1.000000 gauge\na #0  2.000000 gauge\na #0  3.000000 counter\na #0  4.000000 \n");
}

TEST_CASE("ExpositionParser: nothing counts after # EOF, and nothing but that line is one") {
    CHECK(parse("a 1\n# EOF\na 2\nrubbish\n").end == "1 samples, 0 bad");
    CHECK(parse("a 1\n# EOF\r\na 2\n").end == "1 samples, 0 bad");
    CHECK(parse("a 1\n# EOF").end == "1 samples, 0 bad");
    for (const char* other : {"#EOF", "# EOF.", "# EOF x", "# TYPE EOF gauge", "# eof", "# HELP a # EOF"}) {
        CAPTURE(std::string{other});
        CHECK(parse(std::string{"a 1\n"} + other + "\na 2\n").end == "2 samples, 0 bad");
    }
}

TEST_CASE("ExpositionParser: a line over the limit is a bad line, to the byte") {
    const ExpositionLimits limits{.max_line_bytes = 10};
    CHECK(parse("a 12345678\nb 1\n", limits).end == "2 samples, 0 bad");
    CHECK(parse("a 123456789\nb 1\n", limits).end == "1 samples, 1 bad");
    CHECK(parse("a 123456789", limits).end == "0 samples, 1 bad");
    CHECK(parse("# a comment that is long\nb 1", limits).end == "1 samples, 1 bad");
}

TEST_CASE("ExpositionParser: a page over its limit is refused, to the byte, and not read on") {
    const std::string page = "a 1\nb 2\n";
    CHECK(parse(page, {.max_body_bytes = 8}).end == "2 samples, 0 bad");
    for (const std::size_t size : {1UL, 4UL, 8UL}) {
        const auto said = parse_in_pieces(page, [&] { return size; }, {.max_body_bytes = 7});
        CHECK(said.end.find("the page has more than 7 bytes, the limit") == 0);
        CHECK(said.end.find("let the exporter export less") != std::string::npos);
    }
    Recorder recorder;
    const NameSet names{{"a"}};
    ExpositionParser parser{names, recorder, {.max_body_bytes = 5}};
    CHECK(parser.feed("# EOF"));  // the end of the samples is not the end of the bytes
    CHECK_FALSE(parser.feed("\n"));
    CHECK_FALSE(parser.feed(""));
    REQUIRE_FALSE(parser.finish().has_value());
    CHECK(parser.finish().error().code == ErrorCode::bad_reply);
}

TEST_CASE("ExpositionParser: too many selected samples are refused; others do not count") {
    const NameSet names{{"a"}};
    const auto end = [&](const std::string& page) {
        Recorder recorder;
        ExpositionParser parser{names, recorder, {.max_samples = 2}};
        parser.feed(page);
        return end_of(parser);
    };
    CHECK(end("a 1\nb 1\nb 2\nb 3\na no sample\na 2\n") == "5 samples, 1 bad");
    CHECK(end("a 1\na 2\na 3\n").find("the page has more than 2 samples of brink's signals, the limit") == 0);
    CHECK(end("a 1\na 2\na 3").find("the page has more than 2 samples") == 0);
}

#include "daemon/cli/options.hpp"

#include <doctest/doctest.h>

using namespace brink::cli;

namespace {

int code(const std::vector<std::string>& arguments) {
    const auto parsed = parse_options(arguments);
    return parsed ? -1 : parsed.error().exit_code;
}

}  // namespace

TEST_CASE("parse_options: flags of every level, in any place") {
    const auto parsed =
        parse_options({"sweep", "start", "--sizes", "100,1k", "spec.json", "-X", "linger.ms=0", "-X",
                       "acks=1", "--watch", "--controller", "http://a:1", "--no-input"});
    REQUIRE(parsed);
    const auto& start = std::get<SweepStart>(parsed->command);
    CHECK(start.file == "spec.json");
    CHECK(start.flags.sizes == "100,1k");
    CHECK(start.flags.client_properties == std::vector<std::string>{"linger.ms=0", "acks=1"});
    CHECK(start.watch);
    CHECK(parsed->no_input);
    CHECK(parsed->settings.controller == "http://a:1");
}

TEST_CASE("parse_options: standard input is a dash, and short commands are the long ones") {
    const auto start = parse_options({"sweep", "start", "-"});
    REQUIRE(start);
    CHECK(std::get<SweepStart>(start->command).file == "-");
    const auto list = parse_options({"list", "--output", "csv", "-o", "-"});
    REQUIRE(list);
    CHECK(std::holds_alternative<SweepList>(list->command));
    CHECK(list->format == Format::csv);
    const auto show = parse_options({"sweep", "show", "01A"});
    REQUIRE(show);
    CHECK(std::get<SweepShow>(show->command).id == "01A");
}

TEST_CASE("parse_options: a cluster may be named like a command") {
    const auto parsed = parse_options({"check", "agents"});
    REQUIRE(parsed);
    CHECK(std::get<Check>(parsed->command).cluster == "agents");
}

TEST_CASE("parse_options: misuse is 2, help and version are 0") {
    CHECK(code({}) == 2);
    CHECK(code({"frobnicate"}) == 2);
    CHECK(code({"list", "--frobnicate"}) == 2);
    CHECK(code({"show"}) == 2);
    CHECK(code({"list", "--output", "xml"}) == 2);
    CHECK(code({"watch", "--output", "csv"}) == 2);
    CHECK(code({"list", "--limit", "0"}) == 2);
    CHECK(code({"--help"}) == 0);
    CHECK(code({"--version"}) == 0);
    const auto help = parse_options({"sweep", "start", "--help"});
    REQUIRE_FALSE(help);
    CHECK(help.error().out.starts_with("Examples:"));
}

TEST_CASE("parse_options: plot takes a sweep or a file, not both") {
    const auto bare = parse_options({"plot"});
    REQUIRE(bare);
    CHECK_FALSE(std::get<Plot>(bare->command).id);
    CHECK(std::get<Plot>(bare->command).headroom == "20%");
    const auto full = parse_options({"plot", "--csv", "a.csv", "--svg", "-", "--png", "b.png", "--headroom",
                                     "0", "--compare", "01A", "--title", "t", "--terminal"});
    REQUIRE(full);
    const auto& plot = std::get<Plot>(full->command);
    CHECK(plot.csv == "a.csv");
    CHECK(plot.svg == "-");
    CHECK(plot.png == "b.png");
    CHECK(plot.compare == "01A");
    CHECK(plot.terminal);
    CHECK(code({"plot", "01A", "--csv", "a.csv"}) == 2);
    CHECK(code({"plot", "--output", "json"}) == 2);
}

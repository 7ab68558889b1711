#include "daemon/cli/spec_from_flags.hpp"

#include <doctest/doctest.h>

using namespace brink::cli;
using nlohmann::json;

TEST_CASE("spec_from_flags: every flag lands where the spec has it") {
    SpecFlags flags;
    flags.cluster = "local";
    flags.sizes = "100,1k";
    flags.name = "n";
    flags.max_producers = "50";
    flags.rate = "500";
    flags.margin = "5%";
    flags.strategy = "bisection";
    flags.warm_up = "5s";
    flags.measure = "1.5m";
    flags.scrape_interval = "500ms";
    flags.max_extensions = "0";
    flags.early_end = "no";
    flags.replication_factor = "1";
    flags.client_profile = "librdkafka";
    flags.client_properties = {"linger.ms=0", "ssl.key=a=b"};
    flags.topic_config = {"retention.ms=1000"};
    const json expected = {{"cluster", "local"},
                           {"message_bytes", {100, 1000}},
                           {"name", "n"},
                           {"producers", {{"max", 50}, {"rate_each", {{"messages_per_s", 500}}}}},
                           {"margin", 0.05},
                           {"strategy", "bisection"},
                           {"trial",
                            {{"warm_up_s", 5},
                             {"measure_s", 90},
                             {"scrape_interval_s", 0.5},
                             {"max_extensions", 0},
                             {"early_end", false}}},
                           {"topic", {{"replication_factor", 1}, {"config", {{"retention.ms", "1000"}}}}},
                           {"client", {{"profile", "librdkafka"}, {"linger.ms", "0"}, {"ssl.key", "a=b"}}}};
    CHECK(spec_from_flags(std::nullopt, flags) == expected);
}

TEST_CASE("spec_from_flags: flags take the place of what the file says and leave the rest") {
    const json file = {
        {"cluster", "a"}, {"message_bytes", {1}}, {"trial", {{"warm_up_s", 60}, {"measure_s", 120}}}};
    SpecFlags flags;
    flags.cluster = "b";
    flags.measure = "15s";
    const auto spec = spec_from_flags(file, flags);
    REQUIRE(spec);
    CHECK((*spec)["cluster"] == "b");
    CHECK((*spec)["trial"] == json{{"warm_up_s", 60}, {"measure_s", 15}});
    CHECK((*spec)["message_bytes"] == json{1});
}

TEST_CASE("spec_from_flags: a rate is automatic, messages or bytes a second") {
    const json file = {{"cluster", "a"}, {"message_bytes", {1}}};
    const auto rate = [&file](const char* text) {
        SpecFlags flags;
        flags.rate = text;
        const auto spec = spec_from_flags(file, flags);
        return spec ? (*spec)["producers"]["rate_each"] : json(spec.error().message);
    };
    CHECK(rate("auto") == "auto");
    CHECK(rate("0.5") == json{{"messages_per_s", 0.5}});
    CHECK(rate("1k") == json{{"messages_per_s", 1000}});
    CHECK(rate("1MB/s") == json{{"bytes_per_s", 1'000'000}});
    CHECK(rate("fast").get<std::string>().starts_with("--rate: "));
    CHECK(rate("-5").is_string());
}

TEST_CASE("spec_from_flags: how long windows may be is a count and a yes or no") {
    const json file = {{"cluster", "a"}, {"message_bytes", {1}}};
    SpecFlags flags;
    flags.max_extensions = "-1";
    CHECK(spec_from_flags(file, flags).error().message ==
          "--max-extensions: \"-1\" is not a count of at least 0");
    flags.max_extensions = "3";
    flags.early_end = "maybe";
    CHECK(spec_from_flags(file, flags).error().message == "--early-end: \"maybe\" is neither yes nor no");
    flags.early_end = "yes";
    CHECK(spec_from_flags(file, flags)->at("trial") == json{{"max_extensions", 3}, {"early_end", true}});
}

TEST_CASE("spec_from_flags: says what is missing or wrong, and where") {
    SpecFlags flags;
    CHECK_FALSE(spec_from_flags(std::nullopt, flags).has_value());
    flags.cluster = "a";
    CHECK(spec_from_flags(std::nullopt, flags).error().message.find("--sizes") != std::string::npos);
    CHECK_FALSE(spec_from_flags(json::array(), flags).has_value());
    flags.measure = "5s";
    const auto wrong = spec_from_flags(json{{"message_bytes", {1}}, {"trial", 7}}, flags);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().details.at(0).pointer == "/trial");
    flags.measure.reset();
    flags.client_properties = {"linger.ms"};
    CHECK_FALSE(spec_from_flags(json{{"message_bytes", {1}}}, flags).has_value());
    flags.client_properties.clear();
    flags.max_producers = "1.5";
    CHECK_FALSE(spec_from_flags(json{{"message_bytes", {1}}}, flags).has_value());
}

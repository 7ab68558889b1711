#include "config/sweep_spec.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace brink;
namespace fs = std::filesystem;

namespace {

nlohmann::json load(const fs::path& file) {
    std::ifstream in(file);
    return nlohmann::json::parse(in);
}

}  // namespace

TEST_CASE("read_sweep_spec: only cluster and sizes are required, the rest is the method's") {
    const auto spec = read_sweep_spec(load(fs::path(BRINK_TEST_DATA) / "spec/good/minimal.json"));
    REQUIRE(spec);
    CHECK(spec->margin == 0.05);
    CHECK(spec->warm_up_s == 60);
    CHECK(spec->measure_s == 120);
    CHECK(spec->partitions_per_broker == 10);
    CHECK_FALSE(spec->replication_factor);
    CHECK_FALSE(spec->producers_max);
    CHECK(spec->rate_each.kind == RateEach::Kind::automatic);
    CHECK(spec->client_profile == "kafka-defaults");
    CHECK(spec->quota);
    CHECK(spec->replication);
    CHECK(spec->delivery);
    CHECK(spec->early_end);
    CHECK(spec->max_extensions == 2);
}

TEST_CASE("read_sweep_spec: reads every key, and what is written out reads back equal") {
    const auto spec = read_sweep_spec(load(fs::path(BRINK_TEST_DATA) / "spec/good/full.json"));
    REQUIRE(spec);
    CHECK(spec->producers_max == 200);
    CHECK(spec->rate_each.for_size({1000})->value == 50.5);
    CHECK(spec->mean_across_brokers);
    CHECK_FALSE(spec->quota);
    CHECK_FALSE(spec->replication);
    CHECK_FALSE(spec->delivery);
    CHECK_FALSE(spec->early_end);
    CHECK(spec->max_extensions == 5);
    CHECK(spec->topic_config.at("flush.messages") == "1");
    CHECK(spec->client.at("linger.ms") == "0");
    CHECK(spec->payload == "single_character");
    for (const auto& file : fs::directory_iterator(fs::path(BRINK_TEST_DATA) / "spec/good")) {
        const auto original = read_sweep_spec(load(file.path()));
        REQUIRE(original);
        const auto again = read_sweep_spec(to_json(*original));
        REQUIRE(again);
        CHECK(*again == *original);
    }
}

TEST_CASE("read_sweep_spec: each bad spec is refused at its pointer, saying what was seen") {
    int files = 0;
    for (const auto& file : fs::directory_iterator(fs::path(BRINK_TEST_DATA) / "spec/bad")) {
        ++files;
        const auto bad = load(file.path());
        INFO(file.path().filename().string());
        const auto spec = read_sweep_spec(bad.at("spec"));
        REQUIRE_FALSE(spec);
        CHECK(spec.error().code == ErrorCode::invalid_input);
        REQUIRE(spec.error().details.size() == 1);
        CHECK(spec.error().details[0].pointer == bad.at("pointer").get<std::string>());
        INFO(spec.error().details[0].detail);
        CHECK(spec.error().details[0].detail.find(bad.at("detail").get<std::string>()) != std::string::npos);
    }
    CHECK(files >= 25);
}

TEST_CASE("RateEach: a byte rate becomes a message rate by size") {
    RateEach rate{.kind = RateEach::Kind::bytes_per_s, .value = 1e6};
    CHECK(rate.for_size({1000})->value == 1000);
    CHECK_FALSE(RateEach{}.for_size({1000}));
}

TEST_CASE("client_profile: kafka-defaults are those of a Java producer") {
    const auto profile = client_profile("kafka-defaults");
    CHECK(profile.at("acks") == "all");
    CHECK(profile.at("enable.idempotence") == "true");
    CHECK(profile.at("linger.ms") == "5");
    CHECK(client_profile("librdkafka").empty());
}

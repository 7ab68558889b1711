#include "agents/worker/client_properties.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace brink;
using namespace brink::worker;

namespace {

protocol::TaskSpec spec_of(std::map<std::string, std::string> client) {
    protocol::TaskSpec spec;
    spec.bootstrap_servers = "127.0.0.1:1";
    spec.topic = "brink-test";
    spec.client = std::move(client);
    spec.message_bytes = 1'000;
    spec.producers = 10;
    spec.total_producers = 10;
    spec.rate_each = 1'500;
    spec.deadline_s = 60;
    return spec;
}

}  // namespace

TEST_CASE("client_properties: safe bases, with the user's on top") {
    const auto properties =
        client_properties(spec_of({{"linger.ms", "25"}, {"delivery.timeout.ms", "120000"}}));
    REQUIRE(properties.has_value());
    CHECK(properties->at("linger.ms") == "25");
    CHECK(properties->at("delivery.timeout.ms") == "120000");
    CHECK_FALSE(properties->contains("message.timeout.ms"));
    CHECK(properties->at("queue.buffering.max.messages") == "3000");
    CHECK(properties->at("allow.auto.create.topics") == "false");
    CHECK(std::stoll(properties->at("queue.buffering.max.kbytes")) * 10 <= 512 * 1024 + 10);
    CHECK(make_conf(*properties).has_value());
}

TEST_CASE("client_properties: large messages fit the client's limits") {
    auto spec = spec_of({});
    spec.message_bytes = 80'000'000;
    const auto properties = client_properties(spec);
    REQUIRE(properties.has_value());
    CHECK(std::stoll(properties->at("message.max.bytes")) > 80'000'000);
    CHECK(std::stoll(properties->at("queue.buffering.max.kbytes")) * 1'024 > 80'000'000);
    CHECK(make_conf(*properties).has_value());
}

TEST_CASE("client_properties: what would break the agent's promises is refused by name") {
    for (const auto& [name, value] :
         std::map<std::string, std::string>{{"bootstrap.servers", "elsewhere:9092"},
                                            {"allow.auto.create.topics", "true"},
                                            {"plugin.library.paths", "evil"},
                                            {"sasl.kerberos.kinit.cmd", "evil"},
                                            {"message.timeout.ms", "0"},
                                            {"message.max.bytes", "1000"},
                                            {"queue.buffering.max.kbytes", "1048576"},
                                            {"transactional.id", "t"}}) {
        CAPTURE(name);
        const auto refused = client_properties(spec_of({{name, value}}));
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().code == ErrorCode::invalid_input);
        CHECK(refused.error().details.front().pointer == "/client/" + name);
    }
}

TEST_CASE("make_conf: a property that librdkafka refuses is named, a secret's value is not") {
    const auto unknown = make_conf({{"lingr.ms", "5"}});
    REQUIRE_FALSE(unknown.has_value());
    CHECK(unknown.error().details.front().pointer == "/client/lingr.ms");
    const auto bad = make_conf({{"ssl.key.pem", "canary-7f3a"}});
    if (!bad.has_value()) CHECK(bad.error().message.find("canary-7f3a") == std::string::npos);
}

TEST_CASE("resolved_properties: shows what is in use and no secret") {
    auto conf = make_conf({{"sasl.password", "canary-7f3a"},
                           {"sasl.username", "u"},
                           {"sasl.mechanisms", "PLAIN"},
                           {"message.timeout.ms", "30000"},
                           {"log_level", "0"},
                           {"enable.idempotence", "true"}});
    REQUIRE(conf.has_value());
    rd_kafka_t* client = rd_kafka_new(RD_KAFKA_PRODUCER, conf->release(), nullptr, 0);
    REQUIRE(client != nullptr);
    const auto resolved = resolved_properties(client);
    rd_kafka_destroy(client);
    CHECK(resolved.at("enable.idempotence") == "true");
    CHECK(resolved.at("acks") == "-1");
    for (const auto& [name, value] : resolved) {
        CAPTURE(name);
        CHECK(value.find("canary") == std::string::npos);
        CHECK_FALSE(value.starts_with("0x"));
    }
}

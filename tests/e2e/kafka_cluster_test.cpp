// Against a real Kafka: deploy/local-kafka/up, then run with what deploy/local-kafka/env prints
// (BRINK_KAFKA_BOOTSTRAP, BRINK_KAFKA_METRICS) in the environment.
#include <doctest/doctest.h>
#include <librdkafka/rdkafka.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "agents/net/http_client.hpp"
#include "daemon/cluster/cluster.hpp"
#include "daemon/metrics/scraper.hpp"

using namespace brink;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr milliseconds kPatience{30'000};

std::string environment(const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets variables here
    if (value == nullptr || *value == '\0') FAIL(name << " is not set: see deploy/local-kafka/env");
    return value;
}

std::string servers() { return environment("BRINK_KAFKA_BOOTSTRAP"); }

std::unique_ptr<Cluster> cluster() {
    auto made = make_kafka_cluster({{"bootstrap.servers", servers()}});
    if (!made) FAIL(made.error().message);
    return std::move(*made);
}

template <class T>
T value_of(tl::expected<T, Error> result) {
    if (!result) FAIL(result.error().message);
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

ClusterInfo info_of(Cluster& kafka) { return value_of(kafka.describe(kPatience)); }

TopicSpec topic_for(const ClusterInfo& info, const std::string& purpose) {
    TopicSpec spec;
    spec.name = "brink-e2e-" + purpose + "-" + std::to_string(getpid());
    const auto factor = static_cast<int>(std::min<std::size_t>(3, info.brokers.size()));
    spec.replicas = value_of(assign_replicas(info.brokers, 10, factor));
    spec.config = {{"retention.bytes", "100000000"}, {"segment.bytes", "10000000"}};
    return spec;
}

/// Deletes its topic at the end of a test, however that comes.
struct Topic {
    Cluster& kafka;
    TopicSpec spec;
    ~Topic() { CHECK(kafka.delete_topic(spec.name, kPatience)); }
};

using Producer = std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)>;

Producer producer() {
    std::string text(512, '\0');
    auto* conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", servers().c_str(), text.data(), text.size());
    rd_kafka_conf_set(conf, "allow.auto.create.topics", "false", text.data(), text.size());
    Producer made{rd_kafka_new(RD_KAFKA_PRODUCER, conf, text.data(), text.size()), &rd_kafka_destroy};
    if (!made) FAIL(text);
    return made;
}

void produce(rd_kafka_t* handle, const TopicSpec& spec, int sequence) {
    std::string payload(1000, 'x');
    rd_kafka_vu_t fields[4]{};
    fields[0].vtype = RD_KAFKA_VTYPE_TOPIC;
    fields[0].u.cstr = spec.name.c_str();
    fields[1].vtype = RD_KAFKA_VTYPE_PARTITION;
    fields[1].u.i32 = sequence % static_cast<int>(spec.replicas.size());
    fields[2].vtype = RD_KAFKA_VTYPE_VALUE;
    fields[2].u.mem = {payload.data(), payload.size()};
    fields[3].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    fields[3].u.i = RD_KAFKA_MSG_F_COPY;
    auto* const fault = rd_kafka_produceva(handle, fields, std::size(fields));
    if (fault != nullptr) FAIL(rd_kafka_error_string(fault));
}

std::int64_t records_in(rd_kafka_t* handle, const TopicSpec& spec) {
    std::int64_t records = 0;
    for (std::size_t p = 0; p < spec.replicas.size(); ++p) {
        std::int64_t low = 0;
        std::int64_t high = 0;
        REQUIRE(rd_kafka_query_watermark_offsets(handle, spec.name.c_str(), static_cast<int>(p), &low, &high,
                                                 10'000) == RD_KAFKA_RESP_ERR_NO_ERROR);
        records += high - low;
    }
    return records;
}

std::vector<MetricsEndpoint> exporters() {
    std::vector<MetricsEndpoint> endpoints;
    std::istringstream words{environment("BRINK_KAFKA_METRICS")};  // "1=http://… 2=http://…"
    for (std::string word; words >> word;) {
        const auto equals = word.find('=');
        REQUIRE(equals != std::string::npos);
        MetricsEndpoint endpoint;
        endpoint.broker_id = std::stoi(word.substr(0, equals));
        endpoint.url = word.substr(equals + 1);
        endpoints.push_back(endpoint);
    }
    REQUIRE(!endpoints.empty());
    return endpoints;
}

}  // namespace

TEST_CASE("KafkaCluster: describes a real cluster") {
    const auto kafka = cluster();
    const auto info = info_of(*kafka);
    CHECK(!info.cluster_id.empty());
    CHECK(info.controller_id >= 0);
    REQUIRE(!info.brokers.empty());
    for (const auto& broker : info.brokers) {
        CHECK(broker.port > 0);
        const auto config = value_of(kafka->broker_config(broker.id, kPatience));
        CHECK(config.contains("message.max.bytes"));
        CHECK(config.contains("num.io.threads"));
        CHECK(!config.contains("ssl.keystore.password"));
        const auto rack = config.find("broker.rack");
        CHECK(broker.rack == (rack == config.end() ? "" : rack->second));
    }
}

TEST_CASE("KafkaCluster: a created topic has the leaders and replicas that were asked for") {
    const auto kafka = cluster();
    const Topic topic{*kafka, topic_for(info_of(*kafka), "create")};
    value_of(kafka->create_topic(topic.spec, kPatience));
    const auto partitions = value_of(kafka->partitions(topic.spec.name, kPatience));
    REQUIRE(partitions.size() == topic.spec.replicas.size());
    std::map<int, int> leads;
    for (std::size_t p = 0; p < partitions.size(); ++p) {
        CHECK(partitions[p].partition == static_cast<int>(p));
        CHECK(partitions[p].leader == topic.spec.replicas[p].front());
        CHECK(partitions[p].replicas == topic.spec.replicas[p]);
        CHECK(partitions[p].in_sync.size() == topic.spec.replicas[p].size());
        ++leads[partitions[p].leader];
    }
    for (const auto& [broker, count] : leads) CHECK(count == 10);
    CHECK(value_of(kafka->topics(kPatience)).at(topic.spec.name) == static_cast<int>(partitions.size()));
}

TEST_CASE("KafkaCluster: an existing name is a conflict") {
    const auto kafka = cluster();
    const Topic topic{*kafka, topic_for(info_of(*kafka), "conflict")};
    value_of(kafka->create_topic(topic.spec, kPatience));
    const auto again = kafka->create_topic(topic.spec, kPatience);
    REQUIRE(!again);
    CHECK(again.error().code == ErrorCode::conflict);
    CHECK(again.error().message.find(topic.spec.name) != std::string::npos);
}

TEST_CASE("KafkaCluster: a deleted topic is gone, and its name can be used at once") {
    const auto kafka = cluster();
    const Topic topic{*kafka, topic_for(info_of(*kafka), "again")};
    for (int round = 0; round < 3; ++round) {
        value_of(kafka->create_topic(topic.spec, kPatience));
        value_of(kafka->delete_topic(topic.spec.name, kPatience));
        CHECK(!value_of(kafka->topics(kPatience)).contains(topic.spec.name));
        const auto gone = kafka->partitions(topic.spec.name, kPatience);
        REQUIRE(!gone);
        CHECK(gone.error().code == ErrorCode::not_found);
    }
    CHECK(kafka->delete_topic(topic.spec.name, kPatience));
}

TEST_CASE("KafkaCluster: looking for a topic does not create it") {
    const auto kafka = cluster();
    const auto name = "brink-e2e-nobody-made-this-" + std::to_string(getpid());
    CHECK(!kafka->partitions(name, kPatience));
    CHECK(!kafka->empty_topic(name, kPatience));
    CHECK(kafka->delete_topic(name, kPatience));
    CHECK(!value_of(kafka->topics(kPatience)).contains(name));
}

TEST_CASE("KafkaCluster: what brokers refuse is invalid input with their reason") {
    const auto kafka = cluster();
    auto spec = topic_for(info_of(*kafka), "refused");
    spec.config["no.such.config"] = "1";
    auto refused = kafka->create_topic(spec, kPatience);
    REQUIRE(!refused);
    CHECK(refused.error().code == ErrorCode::invalid_input);
    spec.config.clear();
    spec.replicas = {{4711}};
    refused = kafka->create_topic(spec, kPatience);
    REQUIRE(!refused);
    CHECK(refused.error().code == ErrorCode::invalid_input);
}

TEST_CASE("KafkaCluster: an emptied topic has no records left and takes new ones") {
    const auto kafka = cluster();
    const Topic topic{*kafka, topic_for(info_of(*kafka), "empty")};
    value_of(kafka->create_topic(topic.spec, kPatience));
    const auto handle = producer();
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 3000; ++i) {
            produce(handle.get(), topic.spec, i);
        }
        REQUIRE(rd_kafka_flush(handle.get(), 20'000) == RD_KAFKA_RESP_ERR_NO_ERROR);
        CHECK(records_in(handle.get(), topic.spec) == 3000);
        value_of(kafka->empty_topic(topic.spec.name, kPatience));
        CHECK(records_in(handle.get(), topic.spec) == 0);
    }
}

TEST_CASE("KafkaCluster: servers that do not answer are named within the deadline") {
    auto made = make_kafka_cluster({{"bootstrap.servers", "127.0.0.1:1,127.0.0.1:2"}});
    REQUIRE(made);
    for (const milliseconds deadline : {milliseconds{300}, milliseconds{1'500}}) {
        const auto began = steady_clock::now();
        const auto described = (*made)->describe(deadline);
        const auto deleted = (*made)->delete_topic("brink-e2e-x", deadline);
        const auto took = steady_clock::now() - began;
        CHECK(took < 2 * deadline + milliseconds{1'000});
        for (const auto& error : {described.error(), deleted.error()}) {
            CHECK(error.code == ErrorCode::unavailable);
            CHECK(error.message.find("127.0.0.1:1,127.0.0.1:2") != std::string::npos);
        }
        CHECK(described.error().message.find("refused") != std::string::npos);
    }
}

TEST_CASE("KafkaCluster: the wrong protocol ends within the deadline") {
    for (const char* protocol : {"ssl", "sasl_plaintext"}) {
        auto made = make_kafka_cluster({{"bootstrap.servers", servers()},
                                        {"security.protocol", protocol},
                                        {"sasl.mechanism", "PLAIN"},
                                        {"sasl.username", "brink"},
                                        {"sasl.password", "hush"}});
        REQUIRE(made);
        const auto began = steady_clock::now();
        const auto described = (*made)->describe(milliseconds{2'000});
        CHECK(steady_clock::now() - began < milliseconds{3'000});
        REQUIRE(!described);
        MESSAGE(described.error().message);
        CHECK((described.error().code == ErrorCode::unavailable ||
               described.error().code == ErrorCode::unauthorised));
        CHECK(described.error().message.find("hush") == std::string::npos);
    }
}

TEST_CASE("KafkaCluster: a property that librdkafka refuses is named, its value is not") {
    auto unknown = make_kafka_cluster({{"bootstrap.servers", servers()}, {"no.such.property", "hush"}});
    REQUIRE(!unknown);
    CHECK(unknown.error().code == ErrorCode::invalid_input);
    CHECK(unknown.error().message.find("no.such.property") != std::string::npos);
    auto wrong = make_kafka_cluster({{"bootstrap.servers", servers()}, {"security.protocol", "hush"}});
    REQUIRE(!wrong);
    CHECK(wrong.error().message.find("security.protocol") != std::string::npos);
    CHECK(wrong.error().message.find("hush") == std::string::npos);
    CHECK(!make_kafka_cluster({}));
}

TEST_CASE("Scraper: brokers at rest are idle") {
    net::HttpClient http;
    Scraper scraper{http, exporters()};
    const auto first = scraper.scrape_all(milliseconds{10'000});
    std::this_thread::sleep_for(
        std::chrono::seconds{10});  // the counter is a real one: shorter windows are noisy
    const auto second = scraper.scrape_all(milliseconds{10'000});
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (!first[i].reading) FAIL(first[i].reading.error().message);
        if (!second[i].reading) FAIL(second[i].reading.error().message);
        const auto& before = first[i].reading->sample;
        const auto& after = second[i].reading->sample;
        const double idle = (*after.idle_ns - *before.idle_ns) / 1e9 / (after.at_s - before.at_s);
        MESSAGE("broker " << first[i].broker_id << ": idle " << idle << " from "
                          << second[i].reading->series.at("io_idle_ns") << ", scraped in "
                          << second[i].reading->scrape_ms << " ms");
        CHECK(idle > 0.9);
        CHECK(idle < (first[i].reading->broker_meter ? 1.1 : 2.1));
        CHECK(after.isr_shrinks);
        CHECK(after.isr_expands);
        CHECK(after.under_replicated == 0);
        CHECK(after.bytes_in);
        CHECK(after.messages_in);
        CHECK(after.process_start_s);
    }
}

#include "deploy/sim/embedded_cluster.hpp"

#include <doctest/doctest.h>
#include <librdkafka/rdkafka.h>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

using namespace brink;
using namespace brink::sim;

namespace {

CapacityModel quiet() {
    CapacityModel model;
    model.us_per_request = 0;
    model.us_per_byte = 0;
    model.us_per_message = 100;
    model.noise = 0;
    return model;
}

std::unique_ptr<EmbeddedCluster> started(const CapacityModel& model, int brokers) {
    auto cluster = EmbeddedCluster::start(model, brokers);
    REQUIRE_MESSAGE(cluster, cluster.error().message);
    return std::move(*cluster);
}

/// A plain producer that knows nothing of brink.
class PlainProducer {
  public:
    explicit PlainProducer(const std::string& servers) {
        std::array<char, 512> fault{};
        auto* conf = rd_kafka_conf_new();
        rd_kafka_conf_set(conf, "bootstrap.servers", servers.c_str(), fault.data(), fault.size());
        client_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, fault.data(), fault.size());
        REQUIRE_MESSAGE(client_ != nullptr, fault.data());
    }
    ~PlainProducer() { rd_kafka_destroy(client_); }
    PlainProducer(const PlainProducer&) = delete;
    PlainProducer& operator=(const PlainProducer&) = delete;

    void send(const std::string& topic, int partition, int messages, std::size_t bytes) {
        std::string value(bytes, 'x');
        auto* handle = rd_kafka_topic_new(client_, topic.c_str(), nullptr);
        for (int i = 0; i < messages; ++i)
            rd_kafka_produce(handle, partition, RD_KAFKA_MSG_F_COPY, value.data(), value.size(), nullptr, 0,
                             nullptr);
        rd_kafka_topic_destroy(handle);
        REQUIRE(rd_kafka_flush(client_, 10'000) == RD_KAFKA_RESP_ERR_NO_ERROR);
    }

  private:
    rd_kafka_t* client_ = nullptr;
};

bool within(std::chrono::milliseconds deadline, const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    return true;
}

}  // namespace

TEST_CASE("EmbeddedCluster: counts exactly what reaches each leader, and takes its cost off the idle time") {
    const auto cluster = started(quiet(), 2);
    REQUIRE(cluster->create_topic("t", {.leaders = {1, 2, 2}, .replication_factor = 2}));
    PlainProducer producer(cluster->bootstrap_servers());
    const auto before = std::chrono::steady_clock::now();
    const double idle = cluster->counters(1, 0)->idle_ns;
    producer.send("t", 0, 1'000, 100);
    producer.send("t", 2, 3'000, 200);
    CHECK(cluster->counters(1, 0)->messages == 1'000);
    CHECK(cluster->counters(2, 0)->messages == 3'000);
    CHECK(cluster->counters(2, 0)->bytes > 3'000 * 200);
    CHECK(cluster->counters(2, 0)->bytes < 3'000 * 220);
    CHECK(cluster->counters(1, 0)->requests >= 1);
    // 1,000 messages × 100 µs on two threads are 50 ms of the pool.
    REQUIRE(within(std::chrono::seconds{5}, [&] {
        const double elapsed =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
        return elapsed > 0.5;
    }));
    const double idle_s = (cluster->counters(1, 0)->idle_ns - idle) / 1e9;
    const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    CHECK(elapsed - idle_s == doctest::Approx(0.05).epsilon(0.2));
}

TEST_CASE("EmbeddedCluster: topics are created with their leaders, once, and forgotten on deletion") {
    const auto cluster = started(quiet(), 3);
    REQUIRE(cluster->create_topic("t", {.leaders = {3, 1}, .replication_factor = 1}));
    CHECK(cluster->topics().at("t").leaders == std::vector<int>{3, 1});
    const auto again = cluster->create_topic("t", {.leaders = {1}, .replication_factor = 1});
    REQUIRE_FALSE(again);
    CHECK(again.error().code == ErrorCode::conflict);
    CHECK_FALSE(cluster->create_topic("u", {.leaders = {4}, .replication_factor = 1}));
    CHECK(cluster->delete_topic("t"));
    CHECK(cluster->topics().empty());
    CHECK(cluster->delete_topic("t").error().code == ErrorCode::not_found);
}

TEST_CASE("EmbeddedCluster: a silent endpoint keeps silent until the fault is over") {
    const auto cluster = started(quiet(), 2);
    REQUIRE(cluster->inject({.broker = 2, .kind = Fault::Kind::silent, .for_s = 60}));
    CHECK_FALSE(cluster->counters(2, 0.1));
    CHECK(cluster->counters(1, 0.1));
    cluster->clear_faults();
    CHECK(cluster->counters(2, 0.1));
    CHECK_FALSE(cluster->inject({.broker = 9, .kind = Fault::Kind::silent}));
    CHECK_FALSE(cluster->inject({.broker = 1, .kind = Fault::Kind::slow, .amount = 0.5}));
}

TEST_CASE("EmbeddedCluster: a restart closes the broker, empties its counters and brings it back") {
    const auto cluster = started(quiet(), 1);
    REQUIRE(cluster->create_topic("t", {.leaders = {1}, .replication_factor = 1}));
    PlainProducer producer(cluster->bootstrap_servers());
    producer.send("t", 0, 500, 100);
    REQUIRE(cluster->counters(1, 0)->messages == 500);
    REQUIRE(cluster->inject({.broker = 1, .kind = Fault::Kind::restart, .for_s = 0.5}));
    REQUIRE(within(std::chrono::seconds{5}, [&] { return cluster->faults().empty(); }));
    CHECK(cluster->counters(1, 1)->messages == 0);
    producer.send("t", 0, 70, 100);
    CHECK(cluster->counters(1, 0)->messages == 70);
}

TEST_CASE("EmbeddedCluster: the truth follows the model and the shape that was seen, and nothing else") {
    const auto cluster = started(quiet(), 2);
    // 2 brokers × 2 threads × 0.8 / 100 µs
    CHECK(cluster->truth(100, 0.2).msgs_per_s == doctest::Approx(32'000));
    CHECK_FALSE(cluster->truth(100, 0.2).shape_observed);
    auto dearer = quiet();
    dearer.us_per_message = 400;
    CHECK(started(dearer, 2)->truth(100, 0.2).msgs_per_s == doctest::Approx(8'000));
    REQUIRE(cluster->inject({.broker = 1, .kind = Fault::Kind::slow, .amount = 2, .for_s = 60}));
    CHECK(within(std::chrono::seconds{5},
                 [&] { return cluster->truth(100, 0.2).msgs_per_s == doctest::Approx(16'000); }));
}

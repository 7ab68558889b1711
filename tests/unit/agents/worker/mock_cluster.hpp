#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "agents/protocol/messages.hpp"

namespace brink::worker {

/// Brokers inside this process, on loopback, with one topic of six partitions; the brokers lead as many each.
class MockCluster {
  public:
    static constexpr const char* kTopic = "brink-test";
    static constexpr int kPartitions = 6;

    explicit MockCluster(int brokers = 3)
        : client_(rd_kafka_new(RD_KAFKA_PRODUCER, quiet(), nullptr, 0)),
          cluster_(rd_kafka_mock_cluster_new(client_, brokers)),
          brokers_(brokers) {
        rd_kafka_mock_topic_create(cluster_, kTopic, kPartitions, brokers);
        // The mock draws its leaders by lot, and may leave a broker with none.
        for (int partition = 0; partition < kPartitions; ++partition)
            rd_kafka_mock_partition_set_leader(cluster_, kTopic, partition, 1 + partition % brokers);
    }
    ~MockCluster() {
        rd_kafka_mock_cluster_destroy(cluster_);
        rd_kafka_destroy(client_);
    }
    MockCluster(const MockCluster&) = delete;
    MockCluster& operator=(const MockCluster&) = delete;

    [[nodiscard]] std::string servers() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }
    /// Answers come this much later.
    void slow(int rtt_ms) {
        for (int id = 1; id <= brokers_; ++id) rd_kafka_mock_broker_set_rtt(cluster_, id, rtt_ms);
    }
    void down() {
        for (int id = 1; id <= brokers_; ++id) rd_kafka_mock_broker_set_down(cluster_, id);
    }

    [[nodiscard]] protocol::TaskSpec spec(int producers = 2, double rate_each = 500) const {
        protocol::TaskSpec spec;
        spec.epoch = 1;
        spec.bootstrap_servers = servers();
        spec.topic = kTopic;
        spec.message_bytes = 100;
        spec.producers = producers;
        spec.total_producers = producers;
        spec.rate_each = rate_each;
        spec.deadline_s = 60;
        return spec;
    }

  private:
    static rd_kafka_conf_t* quiet() {
        rd_kafka_conf_t* conf = rd_kafka_conf_new();
        rd_kafka_conf_set(conf, "log_level", "0", nullptr, 0);
        return conf;
    }

    rd_kafka_t* client_;
    rd_kafka_mock_cluster_t* cluster_;
    int brokers_;
};

/// Waits for something that another thread does; false after `limit`.
inline bool eventually(const std::function<bool()>& done,
                       std::chrono::milliseconds limit = std::chrono::seconds(15)) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!done()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

}  // namespace brink::worker

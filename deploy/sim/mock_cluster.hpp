#pragma once
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "deploy/sim/mock_log.hpp"
#include "search/error.hpp"

namespace brink::sim {

struct BrokerAddress {
    int id = 0;
    std::string host{};
    int port = 0;
};

/// librdkafka's mock cluster: brokers that speak Kafka's protocol on loopback, in this process. Everything
/// that arrives is told to a listener. Thread-safe.
class MockCluster {
  public:
    /// Called for each produce request and each appended batch, on the cluster's thread: be quick.
    using Listener = std::function<void(const MockEvent&)>;

    /// Starts so many brokers (1 … 100), with ids from 1. Sends itself a message to prove that traffic is
    /// seen. Errors: internal when the library cannot, or writes a log that this program does not understand.
    static tl::expected<std::unique_ptr<MockCluster>, Error> start(int brokers, Listener listener);
    ~MockCluster();
    MockCluster(const MockCluster&) = delete;
    MockCluster& operator=(const MockCluster&) = delete;

    [[nodiscard]] const std::vector<BrokerAddress>& brokers() const;
    [[nodiscard]] std::string bootstrap_servers() const;
    /// Creates a topic whose partition p is led by leaders[p]. The mock never deletes one. Errors: conflict
    /// when it exists, also from a client that asked for its metadata first.
    tl::expected<void, Error> create_topic(const std::string& name, const std::vector<int>& leaders,
                                           int replication_factor);
    /// Milliseconds added to every answer of a broker.
    void delay(int broker, int ms);
    /// Takes a broker away (its connections close) or back.
    void up(int broker, bool up);

  private:
    struct Impl;
    explicit MockCluster(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace brink::sim

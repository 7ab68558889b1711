#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"

namespace brink {

struct BrokerInfo {
    int id = 0;
    std::string host{};
    int port = 0;
    std::string rack{};  ///< empty when none is set
};

struct ClusterInfo {
    std::string cluster_id{};
    int controller_id = -1;
    std::vector<BrokerInfo> brokers{};  ///< by id
};

struct PartitionInfo {
    int partition = 0;
    int leader = -1;
    std::vector<int> replicas{};
    std::vector<int> in_sync{};
};

struct TopicSpec {
    std::string name;
    /// replicas[p] lists the brokers of partition p, the preferred leader first.
    std::vector<std::vector<int>> replicas;
    std::map<std::string, std::string> config{};
};

/// What brink asks of a cluster besides producing to it. All calls block up to their deadline.
/// Thread-safe. Implementations: Kafka (librdkafka's admin client) and brink-sim, chosen by `connect`.
class Cluster {
  public:
    virtual ~Cluster() = default;
    /// Errors: unavailable (bootstrap servers not reached, with their addresses), timed_out, unauthorised.
    virtual tl::expected<ClusterInfo, Error> describe(std::chrono::milliseconds deadline) = 0;
    /// All topics' names with their partition counts. Never asks for a topic by name, which could create it.
    virtual tl::expected<std::map<std::string, int>, Error> topics(std::chrono::milliseconds deadline) = 0;
    /// Creates the topic and waits until every partition has the asked leader and a full ISR. Errors:
    /// conflict when the name exists (never taken as "created with my settings"), timed_out saying which
    /// partition is not there.
    virtual tl::expected<void, Error> create_topic(const TopicSpec& topic,
                                                   std::chrono::milliseconds deadline) = 0;
    /// The partitions of an existing topic. Errors: not_found.
    virtual tl::expected<std::vector<PartitionInfo>, Error> partitions(
        const std::string& topic, std::chrono::milliseconds deadline) = 0;
    /// The partitions of every topic, by its name. One look, however many topics there are.
    virtual tl::expected<std::map<std::string, std::vector<PartitionInfo>>, Error> layout(
        std::chrono::milliseconds deadline) = 0;
    /// Deletes and waits until it is gone. A topic that does not exist is success.
    virtual tl::expected<void, Error> delete_topic(const std::string& topic,
                                                   std::chrono::milliseconds deadline) = 0;
    /// Configuration of a broker by key, secrets left out; for size limits and the fingerprint.
    virtual tl::expected<std::map<std::string, std::string>, Error> broker_config(
        int broker_id, std::chrono::milliseconds deadline) = 0;
    /// Deletes records of a topic up to its ends, so that a sweep's disk use stays bounded between points.
    virtual tl::expected<void, Error> empty_topic(const std::string& topic,
                                                  std::chrono::milliseconds deadline) = 0;
};

/// The real thing: librdkafka's admin client with these properties (bootstrap.servers among them).
/// Errors: invalid_input naming the property librdkafka refused.
tl::expected<std::unique_ptr<Cluster>, Error> make_kafka_cluster(
    const std::map<std::string, std::string>& properties);

/// Replicas for `partitions_per_broker` × brokers partitions: every broker leads equally many and follows
/// equally many (± nothing where arithmetic allows), and a partition's replicas are in different racks
/// wherever racks allow. Pure. Errors: invalid_input when the replication factor exceeds the brokers.
tl::expected<std::vector<std::vector<int>>, Error> assign_replicas(const std::vector<BrokerInfo>& brokers,
                                                                   int partitions_per_broker,
                                                                   int replication_factor);

}  // namespace brink

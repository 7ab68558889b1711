#include <algorithm>
#include <array>
#include <charconv>
#include <thread>
#include <utility>

#include "daemon/cluster/cluster.hpp"
#include "daemon/cluster/kafka_client.hpp"

namespace brink {

namespace {

using std::chrono::milliseconds;
using Nothing = tl::expected<void, Error>;

using NewTopic = std::unique_ptr<rd_kafka_NewTopic_t, KafkaDeleter<rd_kafka_NewTopic_destroy>>;
using DeleteTopic = std::unique_ptr<rd_kafka_DeleteTopic_t, KafkaDeleter<rd_kafka_DeleteTopic_destroy>>;
using ConfigResource =
    std::unique_ptr<rd_kafka_ConfigResource_t, KafkaDeleter<rd_kafka_ConfigResource_destroy>>;
using DeleteRecords = std::unique_ptr<rd_kafka_DeleteRecords_t, KafkaDeleter<rd_kafka_DeleteRecords_destroy>>;
using PartitionList =
    std::unique_ptr<rd_kafka_topic_partition_list_t, KafkaDeleter<rd_kafka_topic_partition_list_destroy>>;
using ConfigByBroker = std::map<int, std::map<std::string, std::string>>;

/// Brokers learn of a new or deleted topic one after the other, and each look asks any of them.
constexpr int kLooksInARow = 3;
constexpr milliseconds kBetweenLooks{50};
constexpr milliseconds kLongestBetweenLooks{500};

/// Calls `look` until it has answered true a few times in a row, an error, or the deadline has passed
/// (false).
template <class Look>
tl::expected<bool, Error> watch(const Deadline& deadline, Look look) {
    auto pause = kBetweenLooks;
    for (int good = 0;;) {
        const tl::expected<bool, Error> seen = look();
        if (!seen) return tl::unexpected(seen.error());
        good = *seen ? good + 1 : 0;
        if (good == kLooksInARow) return true;
        if (deadline.passed()) return false;
        if (good == 0) pause = std::min(pause * 3 / 2, kLongestBetweenLooks);
        std::this_thread::sleep_for(std::min(pause, milliseconds{deadline.left_ms()}));
    }
}

const rd_kafka_metadata_topic_t* find_topic(const rd_kafka_metadata_t& metadata, const std::string& name) {
    for (int i = 0; i < metadata.topic_cnt; ++i) {
        const auto& topic = metadata.topics[i];
        if (topic.err != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART && name == topic.topic) return &topic;
    }
    return nullptr;
}

std::vector<PartitionInfo> partitions_of(const rd_kafka_metadata_topic_t& topic) {
    std::vector<PartitionInfo> partitions;
    for (int i = 0; i < topic.partition_cnt; ++i) {
        const auto& from = topic.partitions[i];
        partitions.push_back({from.id,
                              from.leader,
                              {from.replicas, from.replicas + from.replica_cnt},
                              {from.isrs, from.isrs + from.isr_cnt}});
    }
    std::sort(partitions.begin(), partitions.end(),
              [](const PartitionInfo& a, const PartitionInfo& b) { return a.partition < b.partition; });
    return partitions;
}

std::string list(const std::vector<int>& ids) {
    std::string text;
    for (const int id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
    return "[" + text + "]";
}

/// What is still missing of a topic as asked for; empty when it is all there.
std::string missing(const TopicSpec& spec, const std::vector<PartitionInfo>& partitions) {
    if (partitions.size() != spec.replicas.size()) {
        return std::to_string(partitions.size()) + " of " + std::to_string(spec.replicas.size()) +
               " partitions are there";
    }
    for (std::size_t p = 0; p < partitions.size(); ++p) {
        const auto& seen = partitions[p];
        const auto& asked = spec.replicas[p];
        if (seen.leader == asked.front() && seen.replicas == asked && seen.in_sync.size() == asked.size())
            continue;
        return "partition " + std::to_string(p) + " has leader " + std::to_string(seen.leader) +
               ", replicas " + list(seen.replicas) + " and in sync " + list(seen.in_sync) +
               ", asked for were " + list(asked);
    }
    return {};
}

/// librdkafka's assertion on a wrong assignment ends the process, so it is checked before.
Nothing check(const TopicSpec& spec) {
    const auto wrong = [&](const std::string& what) {
        return tl::unexpected(Error{ErrorCode::invalid_input, "topic \"" + spec.name + "\": " + what});
    };
    if (spec.name.empty() || spec.name.size() > 249) return wrong("a name has 1 to 249 characters");
    if (spec.replicas.empty() || spec.replicas.size() > 100'000)
        return wrong("1 to 100000 partitions are possible");
    for (std::size_t p = 0; p < spec.replicas.size(); ++p) {
        if (spec.replicas[p].empty()) return wrong("partition " + std::to_string(p) + " has no replicas");
    }
    return {};
}

ConfigByBroker configs_of(const std::vector<KafkaEvent>& events) {
    ConfigByBroker configs;
    for (const auto& event : events) {
        const auto* const result = rd_kafka_event_DescribeConfigs_result(event.get());
        std::size_t resource_count = 0;
        const auto* const resources = rd_kafka_DescribeConfigs_result_resources(result, &resource_count);
        for (std::size_t r = 0; r < resource_count; ++r) {
            const std::string_view name = rd_kafka_ConfigResource_name(resources[r]);
            int broker = -1;
            std::from_chars(name.data(), name.data() + name.size(), broker);
            std::size_t entry_count = 0;
            const auto* const entries = rd_kafka_ConfigResource_configs(resources[r], &entry_count);
            auto& config = configs[broker];
            for (std::size_t e = 0; e < entry_count; ++e) {
                const auto* const value = rd_kafka_ConfigEntry_value(entries[e]);
                if (value == nullptr || rd_kafka_ConfigEntry_is_sensitive(entries[e]) != 0) continue;
                config.emplace(rd_kafka_ConfigEntry_name(entries[e]), value);
            }
        }
    }
    return configs;
}

/// The first resource that could not be described.
std::optional<Error> fault_of(const std::vector<KafkaEvent>& events) {
    for (const auto& event : events) {
        std::size_t count = 0;
        const auto* const resources = rd_kafka_DescribeConfigs_result_resources(
            rd_kafka_event_DescribeConfigs_result(event.get()), &count);
        for (std::size_t r = 0; r < count; ++r) {
            const auto code = rd_kafka_ConfigResource_error(resources[r]);
            if (code == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
            return KafkaClient::error_of(code, rd_kafka_ConfigResource_error_string(resources[r]))
                .within("describing the configuration of broker " +
                        std::string{rd_kafka_ConfigResource_name(resources[r])} +
                        " (needs DescribeConfigs on the cluster)");
        }
    }
    return std::nullopt;
}

class KafkaCluster final : public Cluster {
  public:
    explicit KafkaCluster(std::unique_ptr<KafkaClient> client) : client_(std::move(client)) {}

    tl::expected<ClusterInfo, Error> describe(milliseconds time) override {
        const Deadline deadline{time};
        const auto metadata = client_->metadata(deadline);
        if (!metadata) return tl::unexpected(metadata.error());
        ClusterInfo info;
        std::vector<int> ids;
        for (int i = 0; i < (*metadata)->broker_cnt; ++i) {
            const auto& broker = (*metadata)->brokers[i];
            info.brokers.push_back({broker.id, broker.host, broker.port, {}});
            ids.push_back(broker.id);
        }
        std::sort(info.brokers.begin(), info.brokers.end(),
                  [](const BrokerInfo& a, const BrokerInfo& b) { return a.id < b.id; });
        // librdkafka drops the racks that brokers send with their metadata, so each is asked for its own.
        auto configs = describe_configs(ids, deadline);
        if (!configs) return tl::unexpected(configs.error());
        for (auto& broker : info.brokers) broker.rack = (*configs)[broker.id]["broker.rack"];
        info.cluster_id = client_->cluster_id(deadline);
        info.controller_id = client_->controller_id(deadline);
        return info;
    }

    tl::expected<std::map<std::string, int>, Error> topics(milliseconds time) override {
        const auto metadata = client_->metadata(Deadline{time});
        if (!metadata) return tl::unexpected(metadata.error());
        std::map<std::string, int> topics;
        for (int i = 0; i < (*metadata)->topic_cnt; ++i) {
            const auto& topic = (*metadata)->topics[i];
            if (topic.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) continue;
            topics.emplace(topic.topic, topic.partition_cnt);
        }
        return topics;
    }

    Nothing create_topic(const TopicSpec& spec, milliseconds time) override {
        const Deadline deadline{time};
        if (auto checked = check(spec); !checked) return checked;
        const auto doing = "creating topic \"" + spec.name + "\"";
        std::array<char, 256> text{};
        const NewTopic topic{rd_kafka_NewTopic_new(spec.name.c_str(), static_cast<int>(spec.replicas.size()),
                                                   -1, text.data(), text.size())};
        if (!topic) return tl::unexpected(Error{ErrorCode::invalid_input, doing + ": " + text.data()});
        for (std::size_t p = 0; p < spec.replicas.size(); ++p) {
            auto ids = spec.replicas[p];  // librdkafka takes them without const
            const auto code = rd_kafka_NewTopic_set_replica_assignment(
                topic.get(), static_cast<std::int32_t>(p), ids.data(), ids.size(), text.data(), text.size());
            if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
                return tl::unexpected(KafkaClient::error_of(code, text.data()).within(doing));
            }
        }
        for (const auto& [name, value] : spec.config) {
            const auto code = rd_kafka_NewTopic_set_config(topic.get(), name.c_str(), value.c_str());
            if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
                return tl::unexpected(KafkaClient::error_of(code, nullptr).within(doing).within(name));
            }
        }
        auto events = client_->admin(RD_KAFKA_ADMIN_OP_CREATETOPICS, true, 1, deadline,
                                     [&](rd_kafka_t* handle, const auto* options, auto* queue) {
                                         auto* one = topic.get();
                                         rd_kafka_CreateTopics(handle, &one, 1, options, queue);
                                     });
        if (!events) return tl::unexpected(events.error().within(doing + " (it may exist now)"));
        std::size_t count = 0;
        const auto* const result = rd_kafka_event_CreateTopics_result(events->front().get());
        const auto* const topics = rd_kafka_CreateTopics_result_topics(result, &count);
        if (auto made = topic_result(topics, count, doing); !made) {
            return made;
        }
        return wait_until_made(spec, deadline, doing);
    }

    tl::expected<std::vector<PartitionInfo>, Error> partitions(const std::string& topic,
                                                               milliseconds time) override {
        return partitions_within(topic, Deadline{time});
    }

    tl::expected<std::map<std::string, std::vector<PartitionInfo>>, Error> layout(
        milliseconds time) override {
        const auto metadata = client_->metadata(Deadline{time});
        if (!metadata) return tl::unexpected(metadata.error());
        std::map<std::string, std::vector<PartitionInfo>> topics;
        for (int i = 0; i < (*metadata)->topic_cnt; ++i) {
            const auto& topic = (*metadata)->topics[i];
            if (topic.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) continue;
            topics.emplace(topic.topic, partitions_of(topic));
        }
        return topics;
    }

    Nothing delete_topic(const std::string& topic, milliseconds time) override {
        const Deadline deadline{time};
        const auto doing = "deleting topic \"" + topic + "\"";
        if (topic.empty()) return tl::unexpected(Error{ErrorCode::invalid_input, doing + ": it has no name"});
        const DeleteTopic request{rd_kafka_DeleteTopic_new(topic.c_str())};
        auto events = client_->admin(RD_KAFKA_ADMIN_OP_DELETETOPICS, true, 1, deadline,
                                     [&](rd_kafka_t* handle, const auto* options, auto* queue) {
                                         auto* one = request.get();
                                         rd_kafka_DeleteTopics(handle, &one, 1, options, queue);
                                     });
        if (!events) return tl::unexpected(events.error().within(doing));
        std::size_t count = 0;
        const auto* const result = rd_kafka_event_DeleteTopics_result(events->front().get());
        const auto* const topics = rd_kafka_DeleteTopics_result_topics(result, &count);
        auto done = topic_result(topics, count, doing);
        if (!done && done.error().code != ErrorCode::not_found) return done;
        const auto gone = watch(deadline, [&]() -> tl::expected<bool, Error> {
            const auto metadata = client_->metadata(deadline);
            if (!metadata) return tl::unexpected(metadata.error().within(doing));
            return find_topic(**metadata, topic) == nullptr;
        });
        if (!gone) return tl::unexpected(gone.error());
        if (!*gone) {
            return tl::unexpected(
                Error{ErrorCode::timed_out, doing + ": it is still listed after " + deadline.total()});
        }
        return {};
    }

    tl::expected<std::map<std::string, std::string>, Error> broker_config(int broker_id,
                                                                          milliseconds time) override {
        auto configs = describe_configs({broker_id}, Deadline{time});
        if (!configs) return tl::unexpected(configs.error());
        return std::move((*configs)[broker_id]);
    }

    Nothing empty_topic(const std::string& topic, milliseconds time) override {
        const Deadline deadline{time};
        const auto doing = "emptying topic \"" + topic + "\"";
        const auto partitions = partitions_within(topic, deadline);
        if (!partitions) return tl::unexpected(partitions.error().within(doing));
        const PartitionList ends{rd_kafka_topic_partition_list_new(static_cast<int>(partitions->size()))};
        for (const auto& partition : *partitions) {
            rd_kafka_topic_partition_list_add(ends.get(), topic.c_str(), partition.partition)->offset =
                RD_KAFKA_OFFSET_END;
        }
        const DeleteRecords request{rd_kafka_DeleteRecords_new(ends.get())};
        const auto events = client_->admin(RD_KAFKA_ADMIN_OP_DELETERECORDS, true, 1, deadline,
                                           [&](rd_kafka_t* handle, const auto* options, auto* queue) {
                                               auto* one = request.get();
                                               rd_kafka_DeleteRecords(handle, &one, 1, options, queue);
                                           });
        if (!events) return tl::unexpected(events.error().within(doing));
        const auto* const offsets =
            rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(events->front().get()));
        for (int i = 0; i < offsets->cnt; ++i) {
            const auto& partition = offsets->elems[i];
            if (partition.err == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
            return tl::unexpected(KafkaClient::error_of(partition.err, nullptr)
                                      .within(doing + ", partition " + std::to_string(partition.partition)));
        }
        return {};
    }

  private:
    /// Each broker answers for itself, all side by side.
    tl::expected<ConfigByBroker, Error> describe_configs(const std::vector<int>& brokers,
                                                         const Deadline& deadline) {
        std::vector<ConfigResource> resources;
        resources.reserve(brokers.size());
        for (const int id : brokers) {
            resources.emplace_back(
                rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_BROKER, std::to_string(id).c_str()));
        }
        const auto events =
            client_->admin(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, false, static_cast<int>(brokers.size()),
                           deadline, [&](rd_kafka_t* handle, const auto* options, auto* queue) {
                               for (const auto& resource : resources) {
                                   auto* one = resource.get();
                                   rd_kafka_DescribeConfigs(handle, &one, 1, options, queue);
                               }
                           });
        if (!events) {
            return tl::unexpected(
                events.error().within("describing the configuration of brokers " + list(brokers)));
        }
        if (auto fault = fault_of(*events)) return tl::unexpected(*std::move(fault));
        return configs_of(*events);
    }

    tl::expected<std::vector<PartitionInfo>, Error> partitions_within(const std::string& topic,
                                                                      const Deadline& deadline) {
        const auto metadata = client_->metadata(deadline);
        if (!metadata) return tl::unexpected(metadata.error());
        const auto* const found = find_topic(**metadata, topic);
        if (found == nullptr) {
            return tl::unexpected(Error{ErrorCode::not_found, "the cluster has no topic \"" + topic + "\""});
        }
        return partitions_of(*found);
    }

    Nothing wait_until_made(const TopicSpec& spec, const Deadline& deadline, const std::string& doing) {
        std::string lacks;
        const auto made = watch(deadline, [&]() -> tl::expected<bool, Error> {
            const auto seen = partitions_within(spec.name, deadline);
            if (!seen && seen.error().code != ErrorCode::not_found) {
                return tl::unexpected(seen.error().within(doing + " (it exists)"));
            }
            lacks = seen ? missing(spec, *seen) : "no broker lists it yet";
            return lacks.empty();
        });
        if (!made) return tl::unexpected(made.error());
        if (!*made) {
            return tl::unexpected(Error{ErrorCode::timed_out, doing + ": created, but not ready after " +
                                                                  deadline.total() + ": " + lacks});
        }
        return {};
    }

    static Nothing topic_result(const rd_kafka_topic_result_t* const* results, std::size_t count,
                                const std::string& doing) {
        if (count != 1)
            return tl::unexpected(Error{ErrorCode::bad_reply, doing + ": Kafka's answer has no result"});
        const auto code = rd_kafka_topic_result_error(results[0]);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
        return tl::unexpected(
            KafkaClient::error_of(code, rd_kafka_topic_result_error_string(results[0])).within(doing));
    }

    std::unique_ptr<KafkaClient> client_;
};

}  // namespace

tl::expected<std::unique_ptr<Cluster>, Error> make_kafka_cluster(
    const std::map<std::string, std::string>& properties) {
    auto client = KafkaClient::open(properties);
    if (!client) return tl::unexpected(client.error());
    return std::make_unique<KafkaCluster>(std::move(*client));
}

}  // namespace brink

#include "tests/bench/metrics_page.hpp"

#include <array>
#include <cstdio>

namespace brink::bench {
namespace {

/// What Kafka 3.9's brokers call their requests, in RequestMetrics; 60 of them, with a blank after each.
constexpr std::string_view kRequests =
    "AddOffsetsToTxn AddPartitionsToTxn AllocateProducerIds AlterClientQuotas AlterConfigs "
    "AlterPartition AlterPartitionReassignments AlterReplicaLogDirs AlterUserScramCredentials "
    "ApiVersions AssignReplicasToDirs BeginQuorumEpoch BrokerHeartbeat BrokerRegistration "
    "ConsumerGroupDescribe ConsumerGroupHeartbeat ControlledShutdown CreateAcls "
    "CreateDelegationToken CreatePartitions CreateTopics DeleteAcls DeleteGroups DeleteRecords "
    "DeleteTopics DescribeAcls DescribeClientQuotas DescribeCluster DescribeConfigs "
    "DescribeDelegationToken DescribeGroups DescribeLogDirs DescribeProducers DescribeQuorum "
    "DescribeTransactions ElectLeaders EndQuorumEpoch EndTxn Envelope FetchConsumer "
    "FetchFollower FetchSnapshot FindCoordinator Heartbeat IncrementalAlterConfigs "
    "InitProducerId JoinGroup LeaderAndIsr LeaveGroup ListGroups ListOffsets ListTransactions "
    "Metadata OffsetCommit OffsetFetch OffsetForLeaderEpoch Produce SaslHandshake SyncGroup "
    "WriteTxnMarkers ";

/// A line around the value of one label.
struct Line {
    std::string_view before;
    std::string_view after;
};

bool split_at(std::string_view line, std::string_view label, Line& parts) {
    const auto from = line.find(label);
    if (line.starts_with('#') || from == std::string_view::npos) return false;
    const auto to = line.find('"', from + label.size());
    if (to == std::string_view::npos) return false;
    parts = {line.substr(0, from + label.size()), line.substr(to)};
    return true;
}

void add(std::string& page, const Line& line, std::string_view value) {
    page.append(line.before).append(value).append(line.after);
}

/// Families stay together: all topics of one line, then the next line.
std::string page_with(std::string_view capture, int topics) {
    std::string page;
    while (!capture.empty()) {
        const auto end = capture.find('\n');
        const auto line = capture.substr(0, end == std::string_view::npos ? end : end + 1);
        capture.remove_prefix(line.size());
        Line parts;
        if (split_at(line, "topic=\"", parts)) {
            for (int i = 0; i < topics; ++i) {
                std::array<char, 24> name{};
                std::snprintf(name.data(), name.size(), "orders-%05d", i);
                add(page, parts, name.data());
            }
        } else if (split_at(line, "request=\"", parts)) {
            for (auto left = kRequests; !left.empty();) {
                const auto length = left.find(' ');
                add(page, parts, left.substr(0, length));
                left.remove_prefix(length + 1);
            }
        } else {
            page += line;
        }
    }
    return page;
}

}  // namespace

std::string grow_page(std::string_view capture, std::size_t bytes) {
    const auto none = page_with(capture, 0).size();
    const auto one = page_with(capture, 1).size() - none;
    if (one == 0) return page_with(capture, 0);
    const auto topics = bytes <= none ? 0 : (bytes - none + one - 1) / one;
    return page_with(capture, static_cast<int>(topics));
}

}  // namespace brink::bench

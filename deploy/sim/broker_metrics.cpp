#include "deploy/sim/broker_metrics.hpp"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cmath>
#include <utility>
#include <vector>

namespace brink::sim {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;

struct Series {
    const char* bean;
    double value;
};

MetricFamily family(const char* name, const std::vector<Series>& series) {
    MetricFamily made;
    made.name = name;
    made.help = "Attribute of an embedded broker";
    made.type = prometheus::MetricType::Untyped;
    for (const auto& [bean, value] : series) {
        ClientMetric metric;
        metric.label.push_back({"name", bean});
        metric.untyped.value = value;
        made.metric.push_back(std::move(metric));
    }
    return made;
}

}  // namespace

std::string exposition(const BrokerCounters& seen) {
    constexpr const char* kIdle = "RequestHandlerAvgIdlePercent";
    const std::vector<MetricFamily> families{
        family("kafka_server_KafkaRequestHandlerPool_Count", {{kIdle, std::floor(seen.idle_ns)}}),
        family("kafka_server_KafkaRequestHandlerPool_MeanRate", {{kIdle, seen.idle_mean}}),
        family("kafka_server_KafkaRequestHandlerPool_OneMinuteRate", {{kIdle, seen.idle_one_minute}}),
        family("kafka_server_ReplicaManager_Count",
               {{"IsrShrinksPerSec", seen.isr_shrinks}, {"IsrExpandsPerSec", seen.isr_expands}}),
        family("kafka_server_ReplicaManager_Value", {{"UnderReplicatedPartitions", seen.under_replicated}}),
        family("kafka_server_BrokerTopicMetrics_Count",
               {{"BytesInPerSec", seen.bytes}, {"MessagesInPerSec", seen.messages}}),
        family("kafka_network_RequestMetrics_Count", {{"RequestsPerSec", seen.requests}}),
        family("kafka_server_Produce_throttle_time", {{"Produce", seen.throttle_ms}}),
    };
    return prometheus::TextSerializer{}.Serialize(families);
}

}  // namespace brink::sim

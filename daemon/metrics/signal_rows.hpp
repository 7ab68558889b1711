#pragma once
#include <cstddef>
#include <iterator>
#include <string_view>

// What exporters call the signals that brink needs: one table, data only. Private to read_scrape().

namespace brink::signals {

/// What a number must look like to be believed.
enum class Shape {
    idle_counter,  ///< cumulative nanoseconds: whole and at least `kLeastIdleNs`
    counter,       ///< whole and not negative; a rate under a counter's name is nearly always fractional
    gauge          ///< any finite number
};

/// How several series of one signal make one number.
enum class Join {
    one,    ///< they must agree
    sum,    ///< added up; where a series without `topic` is there, it is the sum already
    least,  ///< the worst is the lowest
    most    ///< the worst is the highest
};

/// One name of one signal.
struct SignalRow {
    std::string_view signal;
    std::string_view name;  ///< lower case, without a final `_total`
    std::string_view bean;  ///< what the label `name` must say; empty: any series of this name
    Shape shape;
    Join join;
};

inline constexpr std::string_view kIdle = "io_idle_ns";
inline constexpr std::string_view kBrokerBean = "BrokerRequestHandlerAvgIdlePercent";
inline constexpr std::string_view kAggregateBean = "RequestHandlerAvgIdlePercent";
inline constexpr std::string_view kControllerBean = "ControllerRequestHandlerAvgIdlePercent";

/// A pool collects a millisecond of idle time in the first moments of a broker's life; shares (0 … 2.2) and
/// percents under a counter's name stay far below.
inline constexpr double kLeastIdleNs = 1e6;

inline constexpr auto kCount = Shape::counter;
inline constexpr auto kGauge = Shape::gauge;

/// Signal, name, bean: for each signal the first row that has a believable series is used. The pool of a
/// controller and the control plane's are in no row on purpose, and neither are rates.
inline constexpr SignalRow kRows[] = {
    // The broker's own pool, from Kafka 4.2 on; then the meter that combined nodes share with their
    // controller.
    {kIdle, "kafka_server_kafkarequesthandlerpool_count", kBrokerBean, Shape::idle_counter, Join::one},
    {kIdle, "kafka_server_kafkarequesthandlerpool_brokerrequesthandleravgidlepercent_count", "",
     Shape::idle_counter, Join::one},
    {kIdle, "kafka_server_kafkarequesthandlerpool_total_brokerrequesthandleravgidlepercent_count", "",
     Shape::idle_counter, Join::one},
    {kIdle, "kafka_server_kafkarequesthandlerpool_brokerrequesthandleravgidlepercent", "",
     Shape::idle_counter, Join::one},
    {kIdle, "kafka_server_kafkarequesthandlerpool_count", kAggregateBean, Shape::idle_counter, Join::one},
    {kIdle, "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_count", "",
     Shape::idle_counter, Join::one},
    {kIdle, "kafka_server_kafkarequesthandlerpool_total_requesthandleravgidlepercent_count", "",
     Shape::idle_counter, Join::one},
    {kIdle, "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent", "", Shape::idle_counter,
     Join::one},

    {"isr_shrinks", "kafka_server_replicamanager_count", "IsrShrinksPerSec", kCount, Join::sum},
    {"isr_shrinks", "kafka_server_replicamanager_isrshrinks", "", kCount, Join::sum},
    {"isr_shrinks", "kafka_server_replicamanager_isrshrinkspersec_count", "", kCount, Join::sum},
    {"isr_shrinks", "kafka_server_replicamanager_total_isrshrinkspersec_count", "", kCount, Join::sum},
    {"isr_shrinks", "kafka_server_replicamanager_isrshrinkspersec", "", kCount, Join::sum},
    {"isr_expands", "kafka_server_replicamanager_count", "IsrExpandsPerSec", kCount, Join::sum},
    {"isr_expands", "kafka_server_replicamanager_isrexpands", "", kCount, Join::sum},
    {"isr_expands", "kafka_server_replicamanager_isrexpandspersec_count", "", kCount, Join::sum},
    {"isr_expands", "kafka_server_replicamanager_total_isrexpandspersec_count", "", kCount, Join::sum},
    {"isr_expands", "kafka_server_replicamanager_isrexpandspersec", "", kCount, Join::sum},
    {"under_replicated", "kafka_server_replicamanager_value", "UnderReplicatedPartitions", kGauge, Join::sum},
    {"under_replicated", "kafka_server_replicamanager_underreplicatedpartitions", "", kGauge, Join::sum},
    {"under_replicated", "kafka_server_replicamanager_underreplicatedpartitions_value", "", kGauge,
     Join::sum},
    {"under_replicated", "kafka_server_replicamanager_total_underreplicatedpartitions_value", "", kGauge,
     Join::sum},
    {"offline_partitions", "kafka_controller_kafkacontroller_value", "OfflinePartitionsCount", kGauge,
     Join::sum},
    {"offline_partitions", "kafka_controller_kafkacontroller_offlinepartitionscount", "", kGauge, Join::sum},
    {"offline_partitions", "kafka_controller_kafkacontroller_offlinepartitionscount_value", "", kGauge,
     Join::sum},

    {"bytes_in", "kafka_server_brokertopicmetrics_count", "BytesInPerSec", kCount, Join::sum},
    {"bytes_in", "kafka_server_brokertopicmetrics_bytesin", "", kCount, Join::sum},
    {"bytes_in", "kafka_server_brokertopicmetrics_total_bytesinpersec_count", "", kCount, Join::sum},
    {"bytes_in", "kafka_server_brokertopicmetrics_bytesinpersec_count", "", kCount, Join::sum},
    {"bytes_in", "kafka_server_brokertopicmetrics_bytesinpersec", "", kCount, Join::sum},
    {"messages_in", "kafka_server_brokertopicmetrics_count", "MessagesInPerSec", kCount, Join::sum},
    {"messages_in", "kafka_server_brokertopicmetrics_messagesin", "", kCount, Join::sum},
    {"messages_in", "kafka_server_brokertopicmetrics_total_messagesinpersec_count", "", kCount, Join::sum},
    {"messages_in", "kafka_server_brokertopicmetrics_messagesinpersec_count", "", kCount, Join::sum},
    {"messages_in", "kafka_server_brokertopicmetrics_messagesinpersec", "", kCount, Join::sum},
    {"replication_bytes_in", "kafka_server_brokertopicmetrics_count", "ReplicationBytesInPerSec", kCount,
     Join::sum},
    {"replication_bytes_in", "kafka_server_brokertopicmetrics_replicationbytesin", "", kCount, Join::sum},
    {"replication_bytes_in", "kafka_server_brokertopicmetrics_total_replicationbytesinpersec_count", "",
     kCount, Join::sum},
    {"replication_bytes_in", "kafka_server_brokertopicmetrics_replicationbytesinpersec_count", "", kCount,
     Join::sum},
    {"replication_bytes_in", "kafka_server_brokertopicmetrics_replicationbytesinpersec", "", kCount,
     Join::sum},

    {"request_queue", "kafka_network_requestchannel_value", "RequestQueueSize", kGauge, Join::sum},
    {"request_queue", "kafka_network_requestchannel_requestqueuesize", "", kGauge, Join::sum},
    {"request_queue", "kafka_network_requestchannel_requestqueuesize_value", "", kGauge, Join::sum},
    {"network_idle", "kafka_network_socketserver_value", "NetworkProcessorAvgIdlePercent", kGauge,
     Join::least},
    {"network_idle", "kafka_network_socketserver_networkprocessoravgidlepercent", "", kGauge, Join::least},
    {"network_idle", "kafka_network_socketserver_networkprocessoravgidle_percent", "", kGauge, Join::least},
    {"network_idle", "kafka_network_socketserver_networkprocessoravgidlepercent_value", "", kGauge,
     Join::least},
    {"max_lag", "kafka_server_replicafetchermanager_value", "MaxLag", kGauge, Join::most},
    {"max_lag", "kafka_server_replicafetchermanager_maxlag", "", kGauge, Join::most},
    {"max_lag", "kafka_server_replicafetchermanager_maxlag_value", "", kGauge, Join::most},
    {"connections", "kafka_server_socket_server_metrics_connection_count", "", kGauge, Join::sum},
    {"connections", "kafka_server_socketservermetrics_connection_count", "", kGauge, Join::sum},
    {"process_start_s", "process_start_time_seconds", "", kGauge, Join::most},
};
inline constexpr std::size_t kRowCount = std::size(kRows);

}  // namespace brink::signals

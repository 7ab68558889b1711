#pragma once
#include <string>

#include "deploy/sim/broker_load.hpp"

namespace brink::sim {

/// A broker's counters in the text that Prometheus' JMX exporter 1.x gives for a Kafka broker without any
/// rules: beans' attributes as `kafka_server_<Type>_<Attribute>{name="<Bean>"}`, counters and the misleading
/// rates beside them. Pure.
std::string exposition(const BrokerCounters& counters);

}  // namespace brink::sim

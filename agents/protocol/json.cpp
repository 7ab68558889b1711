#include "agents/protocol/json.hpp"

#include <limits>

#include "agents/protocol/field_reader.hpp"

/// What a controller sends to an agent. The agent's answers are in json_report.cpp.
namespace brink::protocol {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxEpoch = std::numeric_limits<std::int64_t>::max();
// A protocol message is at most 1 GB in librdkafka, with its headers.
constexpr std::int64_t kMaxMessageBytes = 999'990'000;
constexpr int kMaxProducers = 100'000;
constexpr double kMaxRate = 1e7;
constexpr double kMinRate = 1e-6;
constexpr double kMaxDeadlineS = 86'400;
constexpr std::size_t kMaxClientProperties = 256;

std::map<std::string, std::string> read_client(FieldReader& fields) {
    std::map<std::string, std::string> out;
    const auto* client = fields.object("client");
    if (client == nullptr) return out;
    if (client->size() > kMaxClientProperties)
        fields.fault("client", "holds more than " + std::to_string(kMaxClientProperties) + " properties");
    FieldReader properties(*client, fields.pointer("client"));
    for (const auto& [name, value] : client->items()) {
        // The value may be a secret: only its type is ever named.
        if (value.is_string())
            out.emplace(name, value.get<std::string>());
        else
            properties.fault(name, "must be a string: librdkafka properties are given as text");
        properties.member(name.c_str());
    }
    if (const auto error = properties.finish("client")) fields.merge(*error);
    return out;
}

}  // namespace

json to_json(const TaskSpec& spec) {
    return json{{"epoch", spec.epoch},
                {"bootstrap_servers", spec.bootstrap_servers},
                {"topic", spec.topic},
                {"client", spec.client},
                {"message_bytes", spec.message_bytes},
                {"payload", to_string(spec.payload)},
                {"producers", spec.producers},
                {"first_producer", spec.first_producer},
                {"total_producers", spec.total_producers},
                {"rate_each", spec.rate_each},
                {"deadline_s", spec.deadline_s}};
}

json to_json(const StartOrder& order) {
    return json{{"epoch", order.epoch}, {"start_in_ms", order.start_in_ms}};
}

json to_json(const LeaseOrder& order) {
    return json{{"epoch", order.epoch}, {"lease_ms", order.lease_ms}, {"controller", order.controller}};
}

tl::expected<TaskSpec, Error> read_task_spec(const json& document) {
    FieldReader fields(document, "");
    TaskSpec spec;
    spec.epoch = fields.integer("epoch", 0, kMaxEpoch);
    spec.bootstrap_servers = fields.text("bootstrap_servers", 8'192);
    spec.topic = fields.text("topic", 249);
    spec.client = read_client(fields);
    spec.message_bytes = fields.integer("message_bytes", 1, kMaxMessageBytes);
    const auto payload = fields.text("payload", 64, to_string(PayloadKind::random));
    if (const auto kind = payload_kind_from(payload))
        spec.payload = *kind;
    else if (!payload.empty())
        fields.fault("payload", "must be 'random' or 'single_character'");
    spec.producers = static_cast<int>(fields.integer("producers", 1, kMaxProducers));
    spec.first_producer = static_cast<int>(fields.integer("first_producer", 0, kMaxProducers, 0));
    spec.total_producers = static_cast<int>(fields.integer("total_producers", 1, kMaxProducers));
    spec.rate_each = fields.number("rate_each", kMinRate, kMaxRate);
    spec.deadline_s = fields.number("deadline_s", 1e-3, kMaxDeadlineS);
    if (document.is_object() && document.contains("topic") && spec.topic.empty())
        fields.fault("topic", "must not be empty");
    if (document.is_object() && document.contains("bootstrap_servers") && spec.bootstrap_servers.empty())
        fields.fault("bootstrap_servers", "must not be empty");
    if (spec.total_producers > 0 && spec.first_producer + spec.producers > spec.total_producers)
        fields.fault("total_producers", "is " + std::to_string(spec.total_producers) +
                                            ", fewer than first_producer + producers = " +
                                            std::to_string(spec.first_producer + spec.producers));
    return fields.finish(std::move(spec), "task");
}

tl::expected<StartOrder, Error> read_start_order(const json& document) {
    FieldReader fields(document, "");
    StartOrder order;
    order.epoch = fields.integer("epoch", 0, kMaxEpoch);
    order.start_in_ms = static_cast<int>(fields.integer("start_in_ms", 0, 600'000));
    return fields.finish(order, "start order");
}

tl::expected<LeaseOrder, Error> read_lease_order(const json& document) {
    FieldReader fields(document, "");
    LeaseOrder order;
    order.epoch = fields.integer("epoch", 0, kMaxEpoch);
    order.lease_ms = static_cast<int>(fields.integer("lease_ms", 500, 60'000, order.lease_ms));
    order.controller = fields.text("controller", 256, "");
    return fields.finish(std::move(order), "lease order");
}

}  // namespace brink::protocol

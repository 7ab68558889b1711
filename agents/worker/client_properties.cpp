#include "agents/worker/client_properties.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "agents/protocol/json_pointer.hpp"

namespace brink::worker {
namespace {

using Properties = std::map<std::string, std::string>;

struct Refusal {
    std::string_view name;
    std::string_view why;
};

/// Properties that would break what the agent promises, or run somebody's code on its machine.
constexpr auto kRefused = std::to_array<Refusal>({
    {"bootstrap.servers", "is given as bootstrap_servers"},
    {"metadata.broker.list", "is given as bootstrap_servers"},
    {"allow.auto.create.topics", "is always false: no client may create topics by asking for metadata"},
    {"enable.sparse.connections", "is always false: every producer holds its connections from the beginning"},
    {"delivery.report.only.error", "is always false: acknowledgements are counted"},
    {"dr_cb", "belongs to the agent"},
    {"dr_msg_cb", "belongs to the agent"},
    {"enable.gapless.guarantee", "would make stopping a load a fatal error"},
    {"transactional.id", "is not supported: the agent sends outside of transactions"},
    {"statistics.interval.ms", "belongs to the agent"},
    {"log.queue", "belongs to the agent"},
    {"debug", "would log per message"},
    {"test.mock.num.brokers", "would load a cluster that is not there"},
    {"plugin.library.paths", "would load code into the agent"},
    {"ssl.engine.location", "would load code into the agent"},
    {"sasl.kerberos.kinit.cmd", "would run a command on the agent's machine"},
    {"internal.termination.signal", "belongs to the agent"},
});

constexpr std::int64_t kDefaultTimeoutMs = 30'000;
constexpr std::int64_t kLongestTimeoutMs = 300'000;
constexpr std::int64_t kLargestMessageBytes = 1'000'000'000;
constexpr std::int64_t kLargestQueueKbytes = 2'097'151;
constexpr std::int64_t kSmallestQueueMessages = 1'000;
constexpr std::int64_t kLargestQueueMessages = 10'000'000;
constexpr double kQueueSeconds = 2;

Error refused(const std::string& name, const std::string& why) {
    return Error{ErrorCode::invalid_input,
                 "the client property '" + name + "' " + why,
                 {{protocol::child_pointer("/client", name), why}}};
}

/// The name under which one of two spellings was given, if any.
const std::string* given(const Properties& properties, const std::string& name, const std::string& alias) {
    for (const auto& spelling : {name, alias})
        if (const auto found = properties.find(spelling); found != properties.end()) return &found->first;
    return nullptr;
}

std::optional<std::int64_t> whole(const std::string& text) {
    std::int64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data(), end, value);
    if (fault != std::errc{} || stop != end) return std::nullopt;
    return value;
}

/// A number the user set must lie in a range of ours; librdkafka itself judges what is no number.
std::optional<Error> check_range(const Properties& client, const std::string& name, const std::string& alias,
                                 std::int64_t low, std::int64_t high, const std::string& why) {
    const auto* key = given(client, name, alias);
    if (key == nullptr) return std::nullopt;
    const auto value = whole(client.at(*key));
    if (!value || (*value >= low && *value <= high)) return std::nullopt;
    return refused(*key, "is " + std::to_string(*value) + ", outside " + std::to_string(low) + " to " +
                             std::to_string(high) + ": " + why);
}

std::int64_t queue_kbytes(const protocol::TaskSpec& spec) {
    const auto share = kQueueBudgetBytes / spec.producers;
    // A queue that cannot hold one message refuses every message.
    const auto bytes = std::max(share, spec.message_bytes + kMessageOverheadBytes);
    return std::min(bytes / 1'024 + 1, kLargestQueueKbytes);
}

}  // namespace

tl::expected<Properties, Error> client_properties(const protocol::TaskSpec& spec) {
    const auto& client = spec.client;
    for (const auto& [name, why] : kRefused)
        if (client.contains(std::string(name)))
            return tl::unexpected(refused(std::string(name), std::string(why)));

    const auto needed = spec.message_bytes + kMessageOverheadBytes;
    const auto most_kbytes =
        std::max<std::int64_t>(kQueueBudgetBytes / 1'024 / spec.producers, needed / 1'024 + 1);
    for (const auto& fault :
         {check_range(client, "message.timeout.ms", "delivery.timeout.ms", 1, kLongestTimeoutMs,
                      "the agent must not keep messages for longer"),
          check_range(client, "message.max.bytes", "message.max.bytes", needed, kLargestMessageBytes,
                      "a message and its overhead must fit"),
          check_range(client, "queue.buffering.max.kbytes", "queue.buffering.max.kbytes", 1, most_kbytes,
                      "all producers of a task share 512 MiB"),
          check_range(client, "queue.buffering.max.messages", "queue.buffering.max.messages", 1,
                      kLargestQueueMessages, "the queue of a client is bounded")})
        if (fault) return tl::unexpected(*fault);

    auto properties = client;
    properties["bootstrap.servers"] = spec.bootstrap_servers;
    properties["allow.auto.create.topics"] = "false";
    properties["enable.sparse.connections"] = "false";
    properties["statistics.interval.ms"] = "0";
    const auto base = [&](const char* name, const char* alias, const std::string& value) {
        if (given(client, name, alias) == nullptr) properties[name] = value;
    };
    base("log_level", "log_level", "4");
    base("connections.max.idle.ms", "connections.max.idle.ms", "0");
    base("message.timeout.ms", "delivery.timeout.ms", std::to_string(kDefaultTimeoutMs));
    base("message.max.bytes", "message.max.bytes",
         std::to_string(std::clamp(needed, std::int64_t{1'000'000}, kLargestMessageBytes)));
    base("queue.buffering.max.messages", "queue.buffering.max.messages",
         std::to_string(std::clamp(static_cast<std::int64_t>(kQueueSeconds * spec.rate_each),
                                   kSmallestQueueMessages, kLargestQueueMessages)));
    base("queue.buffering.max.kbytes", "queue.buffering.max.kbytes", std::to_string(queue_kbytes(spec)));
    return properties;
}

tl::expected<Conf, Error> make_conf(const Properties& properties) {
    Conf conf(rd_kafka_conf_new());
    std::array<char, 512> reason{};
    for (const auto& [name, value] : properties) {
        if (rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), reason.data(), reason.size()) ==
            RD_KAFKA_CONF_OK)
            continue;
        return tl::unexpected(refused(
            name, is_secret_property(name) ? std::string("is refused by librdkafka (its value is a secret)")
                                           : "is refused by librdkafka: " + std::string(reason.data())));
    }
    return conf;
}

bool is_secret_property(const std::string& name) {
    constexpr std::array<std::string_view, 6> kWords = {"password",           "secret", "key", "jaas",
                                                        "oauthbearer.config", "token"};
    return std::ranges::any_of(kWords,
                               [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

std::map<std::string, std::string> resolved_properties(const rd_kafka_t* client) {
    std::map<std::string, std::string> out;
    const auto* conf = rd_kafka_conf(const_cast<rd_kafka_t*>(client));
    std::size_t count = 0;
    const char** dump = rd_kafka_conf_dump(const_cast<rd_kafka_conf_t*>(conf), &count);
    for (std::size_t i = 0; i + 1 < count; i += 2) {
        const std::string name = dump[i];
        const std::string value = dump[i + 1];
        // Pointers (callbacks, opaques) say nothing to anybody.
        if (!is_secret_property(name) && !value.starts_with("0x") && !value.empty()) out.emplace(name, value);
    }
    rd_kafka_conf_dump_free(dump, count);
    // Topic properties are not in that dump; reading them by name falls through to the default topic's.
    for (const char* name : {"acks", "request.timeout.ms", "message.timeout.ms", "partitioner",
                             "compression.codec", "compression.level", "queuing.strategy"}) {
        std::array<char, 256> value{};
        std::size_t size = value.size();
        if (rd_kafka_conf_get(conf, name, value.data(), &size) == RD_KAFKA_CONF_OK)
            out.emplace(name, value.data());
    }
    return out;
}

}  // namespace brink::worker

#include "agents/worker/producer.hpp"

#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "agents/worker/answer_times.hpp"
#include "agents/worker/client_properties.hpp"
#include "agents/worker/monotonic.hpp"

namespace brink::worker {
namespace {

/// Blocking calls of the library are cut into pieces this long, so that a cancelled task does not wait.
constexpr std::int64_t kPieceNs = 500 * kNsPerMs;

/// The message's due time travels in the opaque pointer, so that a message costs no allocation of ours.
void* pack(std::int64_t due_us) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(due_us));  // NOLINT(performance-no-int-to-ptr)
}
std::int64_t unpack(const void* opaque) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(opaque));
}

int piece_ms(std::int64_t deadline_ns) {
    const auto left = std::clamp<std::int64_t>(deadline_ns - monotonic_ns(), kNsPerMs, kPieceNs);
    return static_cast<int>(left / kNsPerMs);
}

struct Metadata {
    const struct rd_kafka_metadata* value = nullptr;
    Metadata() = default;
    Metadata(const Metadata&) = delete;
    Metadata& operator=(const Metadata&) = delete;
    ~Metadata() {
        if (value != nullptr) rd_kafka_metadata_destroy(value);
    }
};

}  // namespace

tl::expected<std::unique_ptr<Producer>, Error> Producer::create(
    const std::map<std::string, std::string>& properties, const std::string& topic,
    const std::string& client_id, Tally& tally, bool watch_answers) {
    auto conf = make_conf(properties);
    if (!conf) return tl::unexpected(conf.error());
    std::array<char, 512> reason{};
    if (!properties.contains("client.id"))
        rd_kafka_conf_set(conf->get(), "client.id", client_id.c_str(), reason.data(), reason.size());
    std::unique_ptr<Producer> producer(new Producer(tally));
    producer->topic_name_ = topic;
    rd_kafka_conf_set_opaque(conf->get(), producer.get());
    rd_kafka_conf_set_dr_msg_cb(conf->get(), &Producer::on_delivery);
    rd_kafka_conf_set_error_cb(conf->get(), &Producer::on_error);
    rd_kafka_conf_set_throttle_cb(conf->get(), &Producer::on_throttle);
    if (watch_answers) {
        rd_kafka_conf_set(conf->get(), "statistics.interval.ms", "1000", reason.data(), reason.size());
        rd_kafka_conf_set_stats_cb(conf->get(), &Producer::on_statistics);
    }
    rd_kafka_conf_set_log_cb(conf->get(), &Producer::on_log);
    rd_kafka_conf_set_socket_cb(conf->get(), &Producer::open_socket);
    // The client owns its configuration, unless it could not be made.
    rd_kafka_conf_t* owned = conf->release();
    producer->client_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, owned, reason.data(), reason.size()));
    if (!producer->client_) {
        const auto code = rd_kafka_last_error();
        rd_kafka_conf_destroy(owned);
        return tl::unexpected(
            Error{code == RD_KAFKA_RESP_ERR__INVALID_ARG ? ErrorCode::invalid_input : ErrorCode::unavailable,
                  "librdkafka refuses these client properties: " + std::string(reason.data()),
                  {{"/client", reason.data()}}});
    }
    producer->topic_.reset(rd_kafka_topic_new(producer->client_.get(), topic.c_str(), nullptr));
    if (!producer->topic_)
        return tl::unexpected(
            Error{ErrorCode::invalid_input,
                  "librdkafka refuses the topic '" + topic + "': " + rd_kafka_err2str(rd_kafka_last_error()),
                  {{"/topic", rd_kafka_err2str(rd_kafka_last_error())}}});
    return producer;
}

Producer::~Producer() = default;

Error Producer::unreachable(const std::string& what) const {
    return Error{ErrorCode::unavailable,
                 what + (last_error_.empty() ? "" : "; the client says: " + last_error_)};
}

tl::expected<int, Error> Producer::connect(std::int64_t deadline_ns, const std::atomic<bool>& cancel) {
    Metadata metadata;
    std::string waiting = "no broker answered";
    for (;;) {
        if (cancel)
            return tl::unexpected(Error{ErrorCode::cancelled, "the task was stopped while it connected"});
        if (monotonic_ns() >= deadline_ns)
            return tl::unexpected(
                unreachable("the topic '" + topic_name_ + "' cannot be used yet: " + waiting));
        poll();
        Metadata fresh;
        const auto code =
            rd_kafka_metadata(client_.get(), 0, topic_.get(), &fresh.value, piece_ms(deadline_ns));
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            waiting = rd_kafka_err2str(code);
        } else if (fresh.value->topic_cnt == 1 && fresh.value->topics[0].err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            const auto& topic = fresh.value->topics[0];
            const bool led = std::all_of(topic.partitions, topic.partitions + topic.partition_cnt,
                                         [](const auto& partition) { return partition.leader >= 0; });
            if (topic.partition_cnt > 0 && led) {
                std::swap(metadata.value, fresh.value);
                break;
            }
            waiting = "a partition has no leader";
        } else {
            waiting = fresh.value->topic_cnt == 1 ? rd_kafka_err2str(fresh.value->topics[0].err)
                                                  : "it is not listed";
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }

    const auto& topic = metadata.value->topics[0];
    std::map<std::int32_t, std::int32_t> partition_of;  // by leader
    for (int i = 0; i < topic.partition_cnt; ++i)
        partition_of.emplace(topic.partitions[i].leader, topic.partitions[i].id);
    for (const auto& [leader, partition] : partition_of)
        if (auto reached = reach_leader(partition, leader, deadline_ns, cancel); !reached)
            return tl::unexpected(reached.error());
    return metadata.value->broker_cnt;
}

tl::expected<void, Error> Producer::reach_leader(std::int32_t partition, std::int32_t leader,
                                                 std::int64_t deadline_ns, const std::atomic<bool>& cancel) {
    // Any request that only the leader answers proves a working connection to it; this one changes nothing.
    for (;;) {
        std::int64_t low = 0;
        std::int64_t high = 0;
        const auto code = rd_kafka_query_watermark_offsets(client_.get(), topic_name_.c_str(), partition,
                                                           &low, &high, piece_ms(deadline_ns));
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
        poll();
        if (cancel)
            return tl::unexpected(Error{ErrorCode::cancelled, "the task was stopped while it connected"});
        if (monotonic_ns() >= deadline_ns)
            return tl::unexpected(unreachable(
                "broker " + std::to_string(leader) + ", which leads partition " + std::to_string(partition) +
                " of '" + topic_name_ + "', does not answer: " + rd_kafka_err2str(code)));
    }
}

Producer::SendResult Producer::send(std::span<char> payload, std::int64_t due_us) {
    // Neither COPY nor FREE: the library reads the pool in place.
    if (rd_kafka_produce(topic_.get(), RD_KAFKA_PARTITION_UA, 0, payload.data(), payload.size(), nullptr, 0,
                         pack(due_us)) == 0) {
        ++in_flight_;
        return {};
    }
    const auto error = rd_kafka_last_error();
    return {error == RD_KAFKA_RESP_ERR__QUEUE_FULL ? Sent::queue_full : Sent::refused, error};
}

void Producer::poll() { rd_kafka_poll(client_.get(), 0); }

void Producer::purge() {
    rd_kafka_purge(client_.get(),
                   RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING);
}

std::map<std::string, std::string> Producer::resolved() const { return resolved_properties(client_.get()); }

void Producer::on_delivery(rd_kafka_t* /*client*/, const rd_kafka_message_t* message, void* self) {
    auto& producer = *static_cast<Producer*>(self);
    --producer.in_flight_;
    const auto due_us = unpack(message->_private);
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
        producer.tally_.count_acked(due_us, monotonic_ns());
    else
        producer.tally_.count_failed(due_us, rd_kafka_err2name(message->err), rd_kafka_err2str(message->err));
}

void Producer::on_error(rd_kafka_t* /*client*/, int code, const char* reason, void* self) {
    // "All brokers down" says less than the reason that came before it.
    auto& last = static_cast<Producer*>(self)->last_error_;
    if (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || last.empty()) last = reason;
}

void Producer::on_throttle(rd_kafka_t* /*client*/, const char* /*broker*/, std::int32_t /*broker_id*/,
                           int throttle_ms, void* self) {
    if (throttle_ms <= 0) return;  // some broker does not throttle (any more): see ThrottleMeter
    auto& producer = *static_cast<Producer*>(self);
    const auto now = monotonic_ns();
    const auto held_back = producer.throttle_.add(now, throttle_ms);
    producer.tally_.count_throttled(now, throttle_ms, held_back.from_ns, held_back.to_ns);
}

int Producer::on_statistics(rd_kafka_t* /*client*/, char* json, std::size_t length, void* self) {
    try {
        static_cast<Producer*>(self)->tally_.note_answers(monotonic_ns(), answer_times_ms({json, length}));
        // C callbacks never throw, and a second without answer times harms nobody.
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
    return 0;  // the library frees the document
}

void Producer::on_log(const rd_kafka_t* client, int level, const char* facility, const char* line) {
    // On a thread of the library. Errors reach `on_error` too, so these lines are for whoever looks closer.
    try {
        spdlog::debug("event=librdkafka client={} level={} facility={} message=\"{}\"",
                      client == nullptr ? "" : rd_kafka_name(client), level, facility, line);
        // C callbacks never throw, and a lost log line harms nobody.
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
}

int Producer::open_socket(int domain, int type, int protocol, void* /*self*/) {
    const int descriptor = ::socket(domain, type | SOCK_CLOEXEC, protocol);
    if (descriptor < 0) return descriptor;
    // Closing throws away what the kernel has not sent yet: megabytes a connection, and a load that goes on
    // without us.
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    static_cast<void>(::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)));
    return descriptor;
}

}  // namespace brink::worker

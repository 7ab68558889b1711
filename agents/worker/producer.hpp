#pragma once
#include <librdkafka/rdkafka.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "agents/worker/tally.hpp"
#include "agents/worker/throttle_meter.hpp"
#include "search/error.hpp"

namespace brink::worker {

/// One Kafka producer: a librdkafka client of its own, with its own threads and connections. Delivery reports
/// arrive in `poll()` and are counted in the tally for the second in which the message was due; so do answers
/// by which a broker's quota holds the producer back, counted for the seconds in which it does.
///
/// Not thread-safe: one thread at a time, and the same one that writes the tally. Payloads must outlive it.
class Producer {
  public:
    /// Creates the client; nothing is connected yet. `tally` must outlive it. With `watch_answers` the client
    /// also tells once a second how long brokers take to answer, which costs a document of some 10 kB each
    /// time. Errors: invalid_input (a property), unavailable (no descriptors, threads or memory).
    static tl::expected<std::unique_ptr<Producer>, Error> create(
        const std::map<std::string, std::string>& properties, const std::string& topic,
        const std::string& client_id, Tally& tally, bool watch_answers = false);
    /// Closes the connections at once; what the kernel still holds for sending is thrown away.
    ~Producer();
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;

    /// Waits until the topic is known and every broker that leads one of its partitions has answered a
    /// request on this producer's own connection. Returns the number of brokers of the cluster. Never creates
    /// the topic. Errors: unavailable (with the last thing the library said), cancelled when `cancel` is set.
    tl::expected<int, Error> connect(std::int64_t deadline_ns, const std::atomic<bool>& cancel);

    enum class Sent { yes, queue_full, refused };
    struct SendResult {
        Sent sent = Sent::yes;
        rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    };
    /// Hands one message over without copying it. Never blocks.
    SendResult send(std::span<char> payload, std::int64_t due_us);
    /// Serves delivery reports that have arrived; never blocks.
    void poll();
    /// Throws away everything queued or on its way; the reports of it arrive in `poll()`. Does not block.
    void purge();
    /// Messages handed over without a report yet.
    [[nodiscard]] std::uint64_t in_flight() const { return in_flight_; }
    /// Effective properties, without secrets.
    [[nodiscard]] std::map<std::string, std::string> resolved() const;

  private:
    struct ClientDeleter {
        void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
    };
    struct TopicDeleter {
        void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
    };

    explicit Producer(Tally& tally) : tally_(tally) {}
    [[nodiscard]] Error unreachable(const std::string& what) const;
    tl::expected<void, Error> reach_leader(std::int32_t partition, std::int32_t leader,
                                           std::int64_t deadline_ns, const std::atomic<bool>& cancel);
    static void on_delivery(rd_kafka_t* client, const rd_kafka_message_t* message, void* self);
    static void on_error(rd_kafka_t* client, int code, const char* reason, void* self);
    static void on_throttle(rd_kafka_t* client, const char* broker, std::int32_t broker_id, int throttle_ms,
                            void* self);
    static void on_log(const rd_kafka_t* client, int level, const char* facility, const char* line);
    static int on_statistics(rd_kafka_t* client, char* json, std::size_t length, void* self);
    static int open_socket(int domain, int type, int protocol, void* self);

    Tally& tally_;
    std::string topic_name_;
    std::uint64_t in_flight_ = 0;
    std::string last_error_;
    ThrottleMeter throttle_;
    std::unique_ptr<rd_kafka_t, ClientDeleter> client_;
    std::unique_ptr<rd_kafka_topic_t, TopicDeleter> topic_;  ///< destroyed before the client
};

}  // namespace brink::worker

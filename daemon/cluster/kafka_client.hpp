#pragma once
#include <librdkafka/rdkafka.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"

// librdkafka behind RAII and tl::expected; used by kafka_cluster.cpp alone.

namespace brink {

/// A moment until which a call may take; every wait of the call asks it what is left.
class Deadline {
  public:
    explicit Deadline(std::chrono::milliseconds total)
        : total_(total), end_(std::chrono::steady_clock::now() + total) {}
    /// Whole milliseconds left, 0 when it has passed; never more than an hour, librdkafka's limit.
    [[nodiscard]] int left_ms() const;
    [[nodiscard]] bool passed() const { return left_ms() == 0; }
    [[nodiscard]] std::string total() const { return std::to_string(total_.count()) + " ms"; }

  private:
    std::chrono::milliseconds total_;
    std::chrono::steady_clock::time_point end_;
};

/// Destroys a handle of librdkafka with the function that it has for that.
template <auto Destroy>
struct KafkaDeleter {
    template <class Handle>
    void operator()(Handle* handle) const {
        Destroy(handle);
    }
};
using KafkaEvent = std::unique_ptr<rd_kafka_event_t, KafkaDeleter<rd_kafka_event_destroy>>;
using KafkaQueue = std::unique_ptr<rd_kafka_queue_t, KafkaDeleter<rd_kafka_queue_destroy>>;
using KafkaAdminOptions =
    std::unique_ptr<rd_kafka_AdminOptions_t, KafkaDeleter<rd_kafka_AdminOptions_destroy>>;
using KafkaMetadata = std::unique_ptr<const rd_kafka_metadata_t, KafkaDeleter<rd_kafka_metadata_destroy>>;

/// One handle of librdkafka with its last connection error. It never asks for a topic's metadata by name, and
/// tells brokers not to create topics. Thread-safe.
class KafkaClient {
  public:
    /// Errors: invalid_input naming the property that librdkafka refused.
    static tl::expected<std::unique_ptr<KafkaClient>, Error> open(
        const std::map<std::string, std::string>& properties);

    /// Brokers, and all topics with their partitions. Errors: unavailable, timed_out, unauthorised.
    tl::expected<KafkaMetadata, Error> metadata(const Deadline& deadline);

    /// Issues requests on a queue: `send` is called once and makes `count` requests; returns their results.
    /// The request timeout is the deadline; `in_controller` also lets the controller wait that long.
    using Send = std::function<void(rd_kafka_t*, const rd_kafka_AdminOptions_t*, rd_kafka_queue_t*)>;
    tl::expected<std::vector<KafkaEvent>, Error> admin(rd_kafka_admin_op_t op, bool in_controller, int count,
                                                       const Deadline& deadline, const Send& send);

    /// The cluster's id and the controller's, as the last metadata said.
    std::string cluster_id(const Deadline& deadline);
    int controller_id(const Deadline& deadline);

    /// A code of Kafka's as an error; `text` is what the broker or librdkafka said, possibly null.
    static Error error_of(rd_kafka_resp_err_t code, const char* text);

  private:
    struct Fault {
        rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
        std::string text;
        unsigned long count = 0;  ///< faults seen so far, so that a call can tell old from new
    };

    explicit KafkaClient(std::string servers) : servers_(std::move(servers)) {}
    static void on_error(rd_kafka_t* handle, int code, const char* reason, void* self) noexcept;
    static void on_log(const rd_kafka_t* handle, int level, const char* facility, const char* text) noexcept;

    /// Lets librdkafka report what it has, and returns the latest fault since brokers last answered.
    Fault fault();
    /// Brokers answered: earlier faults explain nothing any more.
    void reached();
    /// The error for a call that began after `before` and got `code`.
    Error call_error(rd_kafka_resp_err_t code, const char* text, const Fault& before,
                     const Deadline& deadline);

    std::string servers_;
    std::mutex mutex_;
    Fault fault_;
    std::unique_ptr<rd_kafka_t, KafkaDeleter<rd_kafka_destroy>> handle_;  // last: its threads use the rest
};

}  // namespace brink

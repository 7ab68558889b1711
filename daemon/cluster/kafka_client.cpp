#include "daemon/cluster/kafka_client.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace brink {

namespace {

using std::chrono::milliseconds;

constexpr int kLongestWaitMs = 3'600'000;
/// How often a wait looks whether the servers refused our credentials: those do not get better by waiting.
constexpr int kSliceMs = 500;

bool is_auth(rd_kafka_resp_err_t code) {
    switch (code) {
        case RD_KAFKA_RESP_ERR__AUTHENTICATION:
        case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
            return true;
        default:
            return false;
    }
}

bool is_unreachable(rd_kafka_resp_err_t code) {
    switch (code) {
        case RD_KAFKA_RESP_ERR__TRANSPORT:
        case RD_KAFKA_RESP_ERR__RESOLVE:
        case RD_KAFKA_RESP_ERR__SSL:
        case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
            return true;
        default:
            return false;
    }
}

bool is_timeout(rd_kafka_resp_err_t code) {
    return code == RD_KAFKA_RESP_ERR__TIMED_OUT || code == RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE ||
           code == RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT;
}

ErrorCode class_of(rd_kafka_resp_err_t code) {
    if (is_auth(code)) return ErrorCode::unauthorised;
    if (is_unreachable(code)) return ErrorCode::unavailable;
    if (is_timeout(code)) return ErrorCode::timed_out;
    switch (code) {
        case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
        case RD_KAFKA_RESP_ERR_TOPIC_DELETION_DISABLED:
            return ErrorCode::conflict;
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
            return ErrorCode::not_found;
        case RD_KAFKA_RESP_ERR__INVALID_ARG:
        case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
        case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
        case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
        case RD_KAFKA_RESP_ERR_INVALID_REPLICA_ASSIGNMENT:
        case RD_KAFKA_RESP_ERR_INVALID_REQUEST:
        case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
            return ErrorCode::invalid_input;
        default:
            return ErrorCode::bad_reply;
    }
}

}  // namespace

int Deadline::left_ms() const {
    const auto left = std::chrono::ceil<milliseconds>(end_ - std::chrono::steady_clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, kLongestWaitMs));
}

tl::expected<std::unique_ptr<KafkaClient>, Error> KafkaClient::open(
    const std::map<std::string, std::string>& properties) {
    const auto servers = properties.find("bootstrap.servers");
    if (servers == properties.end() || servers->second.empty()) {
        return tl::unexpected(
            Error{ErrorCode::invalid_input,
                  "the Kafka client has no bootstrap.servers: set them to host:port[,host:port…]"});
    }
    std::unique_ptr<rd_kafka_conf_t, KafkaDeleter<rd_kafka_conf_destroy>> conf{rd_kafka_conf_new()};
    std::unique_ptr<KafkaClient> client{new KafkaClient(servers->second)};
    auto all = properties;
    all.emplace("client.id", "brink");
    all["allow.auto.create.topics"] = "false";  // whatever was asked: looking must not create
    std::array<char, 512> text{};
    for (const auto& [name, value] : all) {
        const auto set = rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), text.data(), text.size());
        // librdkafka's text is not passed on: it can quote the value, which may be a secret.
        if (set == RD_KAFKA_CONF_UNKNOWN) {
            return tl::unexpected(
                Error{ErrorCode::invalid_input, "librdkafka " + std::string{rd_kafka_version_str()} +
                                                    " does not know the client property \"" + name +
                                                    "\": correct its name"});
        }
        if (set != RD_KAFKA_CONF_OK) {
            return tl::unexpected(Error{ErrorCode::invalid_input,
                                        "librdkafka refuses the value of the client property \"" + name +
                                            "\": see librdkafka's CONFIGURATION.md for what it may be"});
        }
    }
    rd_kafka_conf_set_opaque(conf.get(), client.get());
    rd_kafka_conf_set_error_cb(conf.get(), &KafkaClient::on_error);
    rd_kafka_conf_set_log_cb(conf.get(), &KafkaClient::on_log);
    auto* const given = conf.release();  // rd_kafka_new owns it from here on, unless it fails
    auto* const handle = rd_kafka_new(RD_KAFKA_PRODUCER, given, text.data(), text.size());
    if (handle == nullptr) {
        rd_kafka_conf_destroy(given);
        return tl::unexpected(Error{ErrorCode::invalid_input,
                                    "librdkafka refuses the client properties: " + std::string{text.data()}});
    }
    client->handle_.reset(handle);
    return client;
}

void KafkaClient::on_error(rd_kafka_t* /*handle*/, int code, const char* reason, void* self) noexcept {
    try {
        auto& client = *static_cast<KafkaClient*>(self);
        const std::lock_guard lock{client.mutex_};
        auto& fault = client.fault_;
        ++fault.count;
        // "All brokers down" follows every other fault and explains nothing.
        if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && !fault.text.empty()) return;
        fault.code = static_cast<rd_kafka_resp_err_t>(code);
        fault.text = reason;
    } catch (...) {
        return;  // out of memory: the text is lost, the count is not
    }
}

void KafkaClient::on_log(const rd_kafka_t* /*handle*/, int /*level*/, const char* /*facility*/,
                         const char* /*text*/) noexcept {}  // what matters comes as an error

KafkaClient::Fault KafkaClient::fault() {
    rd_kafka_poll(handle_.get(), 0);
    const std::lock_guard lock{mutex_};
    return fault_;
}

void KafkaClient::reached() {
    const std::lock_guard lock{mutex_};
    fault_.code = RD_KAFKA_RESP_ERR_NO_ERROR;
    fault_.text.clear();
}

Error KafkaClient::error_of(rd_kafka_resp_err_t code, const char* text) {
    std::string message = text != nullptr && *text != '\0' ? text : rd_kafka_err2str(code);
    message.append(" (").append(rd_kafka_err2name(code)).append(")");
    if (code == RD_KAFKA_RESP_ERR_TOPIC_DELETION_DISABLED)
        message += ": set delete.topic.enable on the brokers";
    return Error{class_of(code), std::move(message)};
}

Error KafkaClient::call_error(rd_kafka_resp_err_t code, const char* text, const Fault& before,
                              const Deadline& deadline) {
    const auto latest = fault();
    const bool fresh = latest.count != before.count;
    if (fresh && is_auth(latest.code)) {
        return Error{ErrorCode::unauthorised,
                     "Kafka at " + servers_ + " refuses brink's credentials: " + latest.text +
                         "; set the cluster's security.protocol and sasl.* client properties"};
    }
    if (is_unreachable(code) || (is_timeout(code) && is_unreachable(latest.code))) {
        const std::string why = latest.text.empty() ? "no server answered" : latest.text;
        return Error{ErrorCode::unavailable, "cannot reach Kafka at " + servers_ + " within " +
                                                 deadline.total() + ": " + why +
                                                 "; check bootstrap.servers and that the brokers run"};
    }
    auto error = error_of(code, text);
    if (is_timeout(code))
        error.message += ": no answer from Kafka at " + servers_ + " within " + deadline.total();
    return error;
}

tl::expected<KafkaMetadata, Error> KafkaClient::metadata(const Deadline& deadline) {
    const auto before = fault();
    auto code = RD_KAFKA_RESP_ERR__TIMED_OUT;
    // In slices, to notice refused credentials; growing, to let a slow cluster answer.
    for (int slice = kSliceMs; !deadline.passed(); slice *= 2) {
        const rd_kafka_metadata_t* metadata = nullptr;
        slice = std::min(slice, std::max(1, deadline.left_ms()));
        code = rd_kafka_metadata(handle_.get(), 1, nullptr, &metadata, slice);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
            reached();
            return KafkaMetadata{metadata};
        }
        const auto latest = fault();
        if (latest.count != before.count && is_auth(latest.code)) break;
        if (!is_timeout(code) && !is_unreachable(code)) break;
    }
    return tl::unexpected(call_error(code, nullptr, before, deadline));
}

tl::expected<std::vector<KafkaEvent>, Error> KafkaClient::admin(rd_kafka_admin_op_t op, bool in_controller,
                                                                int count, const Deadline& deadline,
                                                                const Send& send) {
    const auto before = fault();
    if (deadline.passed()) {
        return tl::unexpected(call_error(RD_KAFKA_RESP_ERR__TIMED_OUT, nullptr, before, deadline));
    }
    const KafkaAdminOptions options{rd_kafka_AdminOptions_new(handle_.get(), op)};
    const KafkaQueue queue{rd_kafka_queue_new(handle_.get())};
    std::array<char, 256> text{};
    const int limit = std::max(1, deadline.left_ms());
    auto code = rd_kafka_AdminOptions_set_request_timeout(options.get(), limit, text.data(), text.size());
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && in_controller) {
        code = rd_kafka_AdminOptions_set_operation_timeout(options.get(), limit, text.data(), text.size());
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return tl::unexpected(error_of(code, text.data()));
    send(handle_.get(), options.get(), queue.get());

    std::vector<KafkaEvent> events;
    while (static_cast<int>(events.size()) < count) {
        const int wait = std::min(kSliceMs, deadline.left_ms());
        KafkaEvent event{rd_kafka_queue_poll(queue.get(), wait)};
        if (event) {
            code = rd_kafka_event_error(event.get());
            if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
                return tl::unexpected(
                    call_error(code, rd_kafka_event_error_string(event.get()), before, deadline));
            }
            events.push_back(std::move(event));
            continue;
        }
        const auto latest = fault();
        if (deadline.passed() || (latest.count != before.count && is_auth(latest.code))) {
            return tl::unexpected(call_error(RD_KAFKA_RESP_ERR__TIMED_OUT, nullptr, before, deadline));
        }
    }
    reached();
    return events;
}

std::string KafkaClient::cluster_id(const Deadline& deadline) {
    const std::unique_ptr<char, void (*)(char*)> id{rd_kafka_clusterid(handle_.get(), deadline.left_ms()),
                                                    [](char* text) { rd_kafka_mem_free(nullptr, text); }};
    return id ? std::string{id.get()} : std::string{};
}

int KafkaClient::controller_id(const Deadline& deadline) {
    return rd_kafka_controllerid(handle_.get(), deadline.left_ms());
}

}  // namespace brink

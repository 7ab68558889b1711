#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"

/// What the controller and its agents say to each other, version 1, as values. JSON is in `json.hpp`.
namespace brink::protocol {

inline constexpr int kVersion = 1;

enum class PayloadKind { random, single_character };

/// `PUT /v1/tasks/{trial-id}`: one agent's share of one trial. Equal bodies make the call idempotent.
struct TaskSpec {
    std::int64_t epoch = 0;  ///< the controller's; a lower one than the agent has seen is refused with 409
    std::string bootstrap_servers;
    std::string topic;
    std::map<std::string, std::string> client;  ///< librdkafka properties; secrets are never echoed
    std::int64_t message_bytes = 0;             ///< ≥ 1
    PayloadKind payload = PayloadKind::random;
    int producers = 0;        ///< ≥ 1; each a client of its own with its own connections
    int first_producer = 0;   ///< index of the first within the whole trial
    int total_producers = 0;  ///< of the whole trial: phases the schedules apart evenly
    double rate_each = 0;     ///< messages/s of each producer; > 0, fractions exact
    double deadline_s = 0;    ///< the task ends by itself this long after its start; > 0
    bool operator==(const TaskSpec&) const = default;
};

/// `POST /v1/tasks/{id}/start`.
struct StartOrder {
    std::int64_t epoch = 0;
    int start_in_ms = 0;  ///< relative, so that clocks need not agree
};

/// `POST /v1/lease`: keeps all tasks of this epoch alive for `lease_ms` more.
struct LeaseOrder {
    std::int64_t epoch = 0;
    int lease_ms = 5'000;
    std::string controller{};  ///< for the agent's log
};

/// prepared → starting → running → stopped; or failed (with `state_reason`).
enum class TaskState { prepared, starting, running, stopped, failed };

/// A mergeable log-scaled histogram: bucket i counts values in [2^(i/8), 2^((i+1)/8)) µs, the last one
/// everything above.
struct HistogramCounts {
    std::vector<std::uint64_t> counts{};
    bool operator==(const HistogramCounts&) const = default;
};

/// One second of a task, by the time at which messages were *due*; second 0 begins at the start.
/// scheduled = sent + unsent; sent = acked + failed + still in flight.
struct SecondFigures {
    std::int64_t second = 0;
    std::uint64_t scheduled = 0;   ///< due by the schedule
    std::uint64_t sent = 0;        ///< handed to the client library
    std::uint64_t acked = 0;       ///< delivery reports without error
    std::uint64_t failed = 0;      ///< delivery reports with one
    std::uint64_t queue_full = 0;  ///< refused by the library's local queue at first try
    std::uint64_t unsent = 0;    ///< never handed over (stall longer than catch-up allows, queue full, stop)
    double send_lag_p99_ms = 0;  ///< how late messages were handed over
    HistogramCounts latency{};   ///< µs from due time to acknowledgement
    /// For how long producers were held back by brokers' quotas in this second of the clock, all of them
    /// together: at most 1000 × producers. Absent on the wire when none was, and from older agents.
    double throttled_ms = 0;
    std::uint64_t throttled_answers = 0;  ///< answers with a throttle time that arrived in this second
    double longest_throttle_ms = 0;       ///< the longest that one of them asked for
    /// How long brokers took to answer a request of one producer, by broker id: means over a second, the
    /// slowest where several are told. Neither the local queue nor the schedule is in it. Absent where nobody
    /// told.
    std::map<int, double> answer_ms{};
    bool operator==(const SecondFigures&) const = default;
};

struct DeliveryError {
    std::string code;  ///< as librdkafka names it, e.g. MSG_SIZE_TOO_LARGE
    std::string message;
    std::uint64_t count = 0;
    bool operator==(const DeliveryError&) const = default;
};

/// Load of the agent's own process and host, over about the last second.
struct AgentLoad {
    double cpu_share = 0;  ///< of the CPUs this process may use, 0..1
    double process_cpu_cores = 0;
    double rss_mb = 0;
    int open_fds = 0;
    int threads = 0;
    bool operator==(const AgentLoad&) const = default;
};

/// `GET /v1/tasks/{id}/report?since=S`: seconds ≥ S that have ended (all of them are final only for acks that
/// arrived by now: ask again for a later reading of the same seconds).
struct TaskReport {
    std::string trial;
    std::int64_t epoch = 0;
    TaskState state = TaskState::prepared;
    std::string state_reason{};
    double elapsed_s = 0;                 ///< since the start on the agent's monotonic clock; < 0 before it
    std::int64_t started_at_unix_ms = 0;  ///< 0 before the start; for showing only
    std::vector<SecondFigures> seconds{};
    std::vector<DeliveryError> errors{};  ///< by code, over the whole task
    std::uint64_t in_flight = 0;          ///< queued or on the wire now
    double longest_stall_ms = 0;          ///< longest gap of the pacing loop since the start
    std::map<std::string, std::string>
        resolved_client{};  ///< librdkafka's effective properties, without secrets
    AgentLoad load{};
};

/// `GET /v1/host`.
struct HostFacts {
    std::string agent_id;  ///< stable over the life of the process
    std::string version;
    int protocol = kVersion;
    std::string hostname;
    std::string kernel;
    int cpus = 0;  ///< that this process may use
    double memory_mb = 0;
    std::string librdkafka;
    double clock_unix_ms = 0;
    int max_producers = 0;   ///< what descriptors and threads allow, 0 = unknown
    std::int64_t epoch = 0;  ///< highest seen
    double lease_remaining_ms = 0;
    std::vector<std::string> tasks{};
    AgentLoad load{};
};

const char* to_string(TaskState state);
const char* to_string(PayloadKind kind);
std::optional<PayloadKind> payload_kind_from(const std::string& word);

}  // namespace brink::protocol

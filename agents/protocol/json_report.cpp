#include <charconv>
#include <cmath>
#include <limits>

#include "agents/protocol/field_reader.hpp"
#include "agents/protocol/json.hpp"

/// What an agent answers. Histograms travel without their leading and trailing zeros: {"first": i, "counts":
/// […]}.
namespace brink::protocol {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxWhole = std::numeric_limits<std::int64_t>::max();
constexpr double kHuge = std::numeric_limits<double>::max();
constexpr std::int64_t kMaxBuckets = 1'024;
constexpr std::size_t kMaxSeconds = 90'000;
constexpr std::size_t kLongText = 4'096;

json histogram_json(const HistogramCounts& histogram) {
    const auto& counts = histogram.counts;
    std::size_t first = 0;
    std::size_t last = counts.size();
    while (first < last && counts[first] == 0) ++first;
    while (last > first && counts[last - 1] == 0) --last;
    const auto offset = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    return json{{"first", first},
                {"counts",
                 std::vector<std::uint64_t>(counts.begin() + offset(first), counts.begin() + offset(last))}};
}

json load_json(const AgentLoad& load) {
    return json{{"cpu_share", load.cpu_share},
                {"process_cpu_cores", load.process_cpu_cores},
                {"rss_mb", load.rss_mb},
                {"open_fds", load.open_fds},
                {"threads", load.threads}};
}

json second_json(const SecondFigures& second) {
    json out = {{"second", second.second},
                {"scheduled", second.scheduled},
                {"sent", second.sent},
                {"acked", second.acked},
                {"failed", second.failed},
                {"queue_full", second.queue_full},
                {"unsent", second.unsent},
                {"send_lag_p99_ms", second.send_lag_p99_ms},
                {"latency", histogram_json(second.latency)}};
    if (second.throttled_ms > 0 || second.throttled_answers > 0) {
        out["throttled_ms"] = second.throttled_ms;
        out["throttled_answers"] = second.throttled_answers;
        out["longest_throttle_ms"] = second.longest_throttle_ms;
    }
    for (const auto& [broker, ms] : second.answer_ms) out["answer_ms"][std::to_string(broker)] = ms;
    return out;
}

std::optional<TaskState> task_state_from(const std::string& word) {
    for (const auto state : {TaskState::prepared, TaskState::starting, TaskState::running, TaskState::stopped,
                             TaskState::failed})
        if (word == to_string(state)) return state;
    return std::nullopt;
}

HistogramCounts read_histogram(FieldReader& parent, const char* name) {
    HistogramCounts out;
    const auto* document = parent.object(name);
    if (document == nullptr) return out;
    FieldReader fields(*document, parent.pointer(name));
    const auto first = fields.integer("first", 0, kMaxBuckets);
    if (const auto* counts = fields.array("counts")) {
        if (static_cast<std::int64_t>(counts->size()) + first > kMaxBuckets) {
            fields.fault("counts", "reaches beyond bucket " + std::to_string(kMaxBuckets));
        } else {
            out.counts.assign(counts->empty() ? 0 : static_cast<std::size_t>(first), 0);
            for (const auto& count : *counts) {
                if (!count.is_number_unsigned()) fields.fault("counts", "must hold whole numbers ≥ 0 only");
                out.counts.push_back(count.is_number_unsigned() ? count.get<std::uint64_t>() : 0);
            }
        }
    }
    if (const auto error = fields.finish("histogram")) parent.merge(*error);
    return out;
}

std::map<int, double> read_answer_times(FieldReader& parent) {
    std::map<int, double> times;
    const auto* document = parent.object("answer_ms");
    if (document == nullptr) return times;
    for (const auto& [name, ms] : document->items()) {
        int broker = 0;
        const auto* end = name.data() + name.size();
        const auto [stop, fault] = std::from_chars(name.data(), end, broker);
        if (fault != std::errc{} || stop != end || broker < 0 || !ms.is_number() || ms.get<double>() < 0)
            parent.fault("answer_ms", "must hold milliseconds ≥ 0 by broker id");
        else
            times.emplace(broker, ms.get<double>());
    }
    return times;
}

AgentLoad read_load(FieldReader& parent) {
    AgentLoad load;
    const auto* document = parent.object("load");
    if (document == nullptr) return load;
    FieldReader fields(*document, parent.pointer("load"));
    load.cpu_share = fields.number("cpu_share", 0, kHuge);
    load.process_cpu_cores = fields.number("process_cpu_cores", 0, kHuge);
    load.rss_mb = fields.number("rss_mb", 0, kHuge);
    load.open_fds = static_cast<int>(fields.integer("open_fds", 0, std::numeric_limits<int>::max()));
    load.threads = static_cast<int>(fields.integer("threads", 0, std::numeric_limits<int>::max()));
    if (const auto error = fields.finish("load")) parent.merge(*error);
    return load;
}

SecondFigures read_second(const json& document, const std::string& pointer, FieldReader& parent) {
    FieldReader fields(document, pointer);
    SecondFigures second;
    second.second = fields.integer("second", 0, kMaxWhole);
    second.scheduled = fields.count("scheduled");
    second.sent = fields.count("sent");
    second.acked = fields.count("acked");
    second.failed = fields.count("failed");
    second.queue_full = fields.count("queue_full");
    second.unsent = fields.count("unsent");
    second.send_lag_p99_ms = fields.number("send_lag_p99_ms", 0, kHuge);
    second.latency = read_histogram(fields, "latency");
    second.throttled_ms = fields.number("throttled_ms", 0, kHuge, 0.0);
    second.throttled_answers = fields.count("throttled_answers", 0);
    second.longest_throttle_ms = fields.number("longest_throttle_ms", 0, kHuge, 0.0);
    second.answer_ms = read_answer_times(fields);
    if (const auto error = fields.finish("second")) parent.merge(*error);
    return second;
}

DeliveryError read_delivery_error(const json& document, const std::string& pointer, FieldReader& parent) {
    FieldReader fields(document, pointer);
    DeliveryError error;
    error.code = fields.text("code", 256);
    error.message = fields.text("message", kLongText);
    error.count = fields.count("count");
    if (const auto fault = fields.finish("delivery error")) parent.merge(*fault);
    return error;
}

}  // namespace

json to_json(const TaskReport& report) {
    auto seconds = json::array();
    for (const auto& second : report.seconds) seconds.push_back(second_json(second));
    auto errors = json::array();
    for (const auto& error : report.errors)
        errors.push_back(json{{"code", error.code}, {"message", error.message}, {"count", error.count}});
    return json{{"trial", report.trial},
                {"epoch", report.epoch},
                {"state", to_string(report.state)},
                {"state_reason", report.state_reason},
                {"elapsed_s", report.elapsed_s},
                {"started_at_unix_ms", report.started_at_unix_ms},
                {"seconds", std::move(seconds)},
                {"errors", std::move(errors)},
                {"in_flight", report.in_flight},
                {"longest_stall_ms", report.longest_stall_ms},
                {"resolved_client", report.resolved_client},
                {"load", load_json(report.load)}};
}

json to_json(const HostFacts& facts) {
    return json{{"agent_id", facts.agent_id},
                {"version", facts.version},
                {"protocol", facts.protocol},
                {"hostname", facts.hostname},
                {"kernel", facts.kernel},
                {"cpus", facts.cpus},
                {"memory_mb", facts.memory_mb},
                {"librdkafka", facts.librdkafka},
                {"clock_unix_ms", facts.clock_unix_ms},
                {"max_producers", facts.max_producers},
                {"epoch", facts.epoch},
                {"lease_remaining_ms", facts.lease_remaining_ms},
                {"tasks", facts.tasks},
                {"load", load_json(facts.load)}};
}

tl::expected<TaskReport, Error> read_task_report(const json& document) {
    FieldReader fields(document, "");
    TaskReport report;
    report.trial = fields.text("trial", 64);
    report.epoch = fields.integer("epoch", 0, kMaxWhole);
    const auto state = fields.text("state", 64);
    if (const auto known = task_state_from(state))
        report.state = *known;
    else if (!state.empty())
        fields.fault("state", "must be prepared, starting, running, stopped or failed");
    report.state_reason = fields.text("state_reason", kLongText, "");
    report.elapsed_s = fields.number("elapsed_s", -kHuge, kHuge);
    report.started_at_unix_ms = fields.integer("started_at_unix_ms", 0, kMaxWhole, 0);
    if (const auto* seconds = fields.array("seconds")) {
        if (seconds->size() > kMaxSeconds) fields.fault("seconds", "holds more than a day");
        for (std::size_t i = 0; i < std::min(seconds->size(), kMaxSeconds); ++i)
            report.seconds.push_back(read_second((*seconds)[i], "/seconds/" + std::to_string(i), fields));
    }
    if (const auto* errors = fields.array("errors"))
        for (std::size_t i = 0; i < errors->size(); ++i)
            report.errors.push_back(
                read_delivery_error((*errors)[i], "/errors/" + std::to_string(i), fields));
    report.in_flight = fields.count("in_flight", 0);
    report.longest_stall_ms = fields.number("longest_stall_ms", 0, kHuge, 0.0);
    if (const auto* client = fields.object("resolved_client"))
        for (const auto& [name, value] : client->items()) {
            if (!value.is_string()) fields.fault("resolved_client", "must hold strings only");
            if (value.is_string()) report.resolved_client.emplace(name, value.get<std::string>());
        }
    report.load = read_load(fields);
    return fields.finish(std::move(report), "task report");
}

tl::expected<HostFacts, Error> read_host_facts(const json& document) {
    FieldReader fields(document, "");
    HostFacts facts;
    facts.agent_id = fields.text("agent_id", 256);
    facts.version = fields.text("version", 256);
    facts.protocol = static_cast<int>(fields.integer("protocol", 1, 1'000'000));
    facts.hostname = fields.text("hostname", 256, "");
    facts.kernel = fields.text("kernel", 1'024, "");
    facts.cpus = static_cast<int>(fields.integer("cpus", 0, 1'000'000));
    facts.memory_mb = fields.number("memory_mb", 0, kHuge);
    facts.librdkafka = fields.text("librdkafka", 256, "");
    facts.clock_unix_ms = fields.number("clock_unix_ms", 0, kHuge);
    facts.max_producers =
        static_cast<int>(fields.integer("max_producers", 0, std::numeric_limits<int>::max(), 0));
    facts.epoch = fields.integer("epoch", 0, kMaxWhole);
    facts.lease_remaining_ms = fields.number("lease_remaining_ms", 0, kHuge, 0.0);
    facts.tasks = fields.texts("tasks", 64);
    facts.load = read_load(fields);
    return fields.finish(std::move(facts), "host description");
}

}  // namespace brink::protocol

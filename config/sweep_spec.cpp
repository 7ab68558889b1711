#include "config/sweep_spec.hpp"

#include <algorithm>
#include <cmath>

#include "config/schema_check.hpp"
#include "sweep_spec_schema.hpp"

namespace brink {
namespace {

using nlohmann::json;

const json& schema() {
    static const json parsed = json::parse(kSweepSpecSchema);
    return parsed;
}

RateEach read_rate(const json& value) {
    RateEach rate;
    if (value.is_string()) return rate;
    if (value.contains("messages_per_s")) {
        rate.kind = RateEach::Kind::messages_per_s;
        rate.value = value.at("messages_per_s").get<double>();
    } else if (value.contains("bytes_per_s")) {
        rate.kind = RateEach::Kind::bytes_per_s;
        rate.value = value.at("bytes_per_s").get<double>();
    } else {
        rate.kind = RateEach::Kind::per_size;
        for (const auto& [size, messages] : value.at("per_size").items()) {
            rate.per_size.emplace(std::strtoll(size.c_str(), nullptr, 10), messages.get<double>());
        }
    }
    return rate;
}

json to_json(const RateEach& rate) {
    switch (rate.kind) {
        case RateEach::Kind::automatic:
            return "auto";
        case RateEach::Kind::messages_per_s:
            return {{"messages_per_s", rate.value}};
        case RateEach::Kind::bytes_per_s:
            return {{"bytes_per_s", rate.value}};
        case RateEach::Kind::per_size:
            break;
    }
    json sizes = json::object();
    for (const auto& [size, messages] : rate.per_size) sizes[std::to_string(size)] = messages;
    return {{"per_size", sizes}};
}

/// Copies the text values of an object, leaving out `except`.
std::map<std::string, std::string> texts(const json& object, const std::string& except = {}) {
    std::map<std::string, std::string> result;
    for (const auto& [key, value] : object.items()) {
        if (key != except) result.emplace(key, value.get<std::string>());
    }
    return result;
}

SweepSpec read_checked(const json& document) {
    SweepSpec spec;
    const json empty = json::object();
    auto part = [&](const char* name) -> const json& {
        const auto found = document.find(name);
        return found == document.end() ? empty : *found;
    };
    spec.cluster = document.at("cluster").get<std::string>();
    spec.name = document.value("name", "");
    spec.message_bytes = document.at("message_bytes").get<std::vector<std::int64_t>>();
    if (const auto& max = part("producers").value("max", json("auto")); max.is_number())
        spec.producers_max = max.get<int>();
    spec.rate_each = read_rate(part("producers").value("rate_each", json("auto")));
    spec.margin = document.value("margin", spec.margin);
    spec.strategy = document.value("strategy", spec.strategy);
    const auto& trial = part("trial");
    spec.warm_up_s = trial.value("warm_up_s", spec.warm_up_s);
    spec.measure_s = trial.value("measure_s", spec.measure_s);
    spec.sub_window_s = trial.value("sub_window_s", spec.sub_window_s);
    spec.scrape_interval_s = trial.value("scrape_interval_s", spec.scrape_interval_s);
    spec.early_end = trial.value("early_end", spec.early_end);
    spec.max_extensions = trial.value("max_extensions", spec.max_extensions);
    const auto& overload = part("overload");
    spec.io_idle_below = overload.value("io_idle_below", spec.io_idle_below);
    spec.isr_churn_above = overload.value("isr_churn_above", spec.isr_churn_above);
    spec.mean_across_brokers = overload.value("across_brokers", "worst") == "mean";
    spec.quota = overload.value("quota", spec.quota);
    spec.replication = overload.value("replication", spec.replication);
    spec.delivery = overload.value("delivery", spec.delivery);
    const auto& topic = part("topic");
    spec.partitions_per_broker = topic.value("partitions_per_broker", spec.partitions_per_broker);
    if (const auto& rf = topic.value("replication_factor", json("")); rf.is_number()) {
        spec.replication_factor = rf.get<int>();
    }
    spec.topic_config = texts(topic.value("config", empty));
    spec.payload = part("payload").value("kind", spec.payload);
    spec.client_profile = part("client").value("profile", spec.client_profile);
    spec.client = texts(part("client"), "profile");
    return spec;
}

/// Rules that span several keys, which a schema does not say.
std::vector<ErrorDetail> check_together(const SweepSpec& spec) {
    std::vector<ErrorDetail> faults;
    // The judge needs 12 scrapes a broker; a window that cannot hold them would make every trial invalid.
    constexpr int kScrapes = 12;
    if (spec.measure_s < kScrapes * spec.scrape_interval_s) {
        faults.push_back({"/trial/measure_s", std::to_string(spec.measure_s) + " s has no room for " +
                                                  std::to_string(kScrapes) + " scrapes every " +
                                                  std::to_string(spec.scrape_interval_s) +
                                                  " s: lengthen it or shorten scrape_interval_s"});
    }
    if (spec.sub_window_s < spec.scrape_interval_s || spec.sub_window_s > spec.measure_s) {
        faults.push_back({"/trial/sub_window_s", std::to_string(spec.sub_window_s) +
                                                     " s must lie between scrape_interval_s and measure_s"});
    }
    for (const auto size : spec.message_bytes) {
        if (spec.rate_each.kind == RateEach::Kind::per_size && spec.rate_each.per_size.count(size) == 0) {
            faults.push_back(
                {"/producers/rate_each/per_size", "has no rate for " + std::to_string(size) + " bytes"});
        }
    }
    if (spec.rate_each.per_size.count(0) != 0) {
        faults.push_back(
            {"/producers/rate_each/per_size", "keys are message sizes in bytes, as in \"1000\""});
    }
    for (const char* key : {"bootstrap.servers", "message.max.bytes", "transactional.id", "client.id"}) {
        if (spec.client.count(key) != 0) {
            faults.push_back({std::string("/client/") + key, "is set by brink itself: leave it out"});
        }
    }
    return faults;
}

Error refused(std::vector<ErrorDetail> faults) {
    std::string message =
        "the sweep spec has " + std::to_string(faults.size()) + (faults.size() == 1 ? " fault" : " faults");
    for (const auto& f : faults) message += "; " + (f.pointer.empty() ? "spec" : f.pointer) + ": " + f.detail;
    return Error{ErrorCode::invalid_input, message, std::move(faults)};
}

}  // namespace

std::optional<MessagesPerSecond> RateEach::for_size(MessageSize size) const {
    switch (kind) {
        case Kind::automatic:
            return std::nullopt;
        case Kind::messages_per_s:
            return MessagesPerSecond{value};
        case Kind::bytes_per_s:
            return MessagesPerSecond{value / static_cast<double>(size.value)};
        case Kind::per_size:
            break;
    }
    const auto found = per_size.find(size.value);
    if (found == per_size.end()) return std::nullopt;
    return MessagesPerSecond{found->second};
}

tl::expected<SweepSpec, Error> read_sweep_spec(const json& document) {
    if (!document.is_object()) return tl::unexpected(refused({{"", "must be a JSON object"}}));
    if (auto faults = check_schema(document, schema()); !faults.empty())
        return tl::unexpected(refused(std::move(faults)));
    auto spec = read_checked(document);
    if (auto faults = check_together(spec); !faults.empty())
        return tl::unexpected(refused(std::move(faults)));
    return spec;
}

json to_json(const SweepSpec& spec) {
    json client = json::object();
    for (const auto& [key, value] : spec.client) client[key] = value;
    client["profile"] = spec.client_profile;
    return {{"cluster", spec.cluster},
            {"name", spec.name},
            {"message_bytes", spec.message_bytes},
            {"producers",
             {{"max", spec.producers_max ? json(*spec.producers_max) : json("auto")},
              {"rate_each", to_json(spec.rate_each)}}},
            {"margin", spec.margin},
            {"strategy", spec.strategy},
            {"trial",
             {{"warm_up_s", spec.warm_up_s},
              {"measure_s", spec.measure_s},
              {"sub_window_s", spec.sub_window_s},
              {"scrape_interval_s", spec.scrape_interval_s},
              {"early_end", spec.early_end},
              {"max_extensions", spec.max_extensions}}},
            {"overload",
             {{"io_idle_below", spec.io_idle_below},
              {"isr_churn_above", spec.isr_churn_above},
              {"across_brokers", spec.mean_across_brokers ? "mean" : "worst"},
              {"quota", spec.quota},
              {"replication", spec.replication},
              {"delivery", spec.delivery}}},
            {"topic",
             {{"partitions_per_broker", spec.partitions_per_broker},
              {"replication_factor",
               spec.replication_factor ? json(*spec.replication_factor) : json("min(3, brokers)")},
              {"config", spec.topic_config}}},
            {"payload", {{"kind", spec.payload}}},
            {"client", client}};
}

}  // namespace brink

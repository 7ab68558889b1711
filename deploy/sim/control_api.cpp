#include "deploy/sim/control_api.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "agents/protocol/field_reader.hpp"
#include "agents/protocol/json.hpp"

namespace brink::sim {
namespace {

using net::HttpRequest;
using net::HttpResponse;
using nlohmann::json;

constexpr int kPartitionsPerBroker = 10;
constexpr int kMostPartitions = 10'000;
constexpr double kIdleBelow = 0.2;
constexpr double kLargestMessage = 1e9;
/// What a broker accepts by default (message.max.bytes).
constexpr int kMessageMaxBytes = 1'048'588;

constexpr std::array<std::pair<const char*, Fault::Kind>, 4> kKinds{{{"silent", Fault::Kind::silent},
                                                                     {"restart", Fault::Kind::restart},
                                                                     {"slow", Fault::Kind::slow},
                                                                     {"throttle", Fault::Kind::throttle}}};

const char* name_of(Fault::Kind kind) {
    return std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& k) { return k.second == kind; })->first;
}

HttpResponse answer(int status, const json& body) {
    return HttpResponse{status, "application/json", body.dump() + "\n", {}, {}};
}

json describe(const EmbeddedCluster::Topic& topic) {
    return {{"partitions", topic.leaders.size()},
            {"replication_factor", topic.replication_factor},
            {"leaders", topic.leaders}};
}

tl::expected<double, Error> query_number(const HttpRequest& request, const std::string& name, double low,
                                         double high, std::optional<double> absent) {
    const auto text = request.query_value(name);
    if (!text && absent) return *absent;
    double value = 0;
    if (text) {
        const auto* end = text->data() + text->size();
        const auto [stop, fault] = std::from_chars(text->data(), end, value);
        if (fault == std::errc{} && stop == end && value >= low && value <= high) return value;
    }
    return tl::unexpected(Error{ErrorCode::invalid_input,
                                "the query parameter '" + name + "' must be a number from " +
                                    json(low).dump() + " to " + json(high).dump() +
                                    (text ? ", not '" + *text + "'" : " and is missing"),
                                {}});
}

tl::expected<EmbeddedCluster::Topic, Error> topic_in(const std::string& body, int brokers) {
    const auto document =
        body.empty() ? tl::expected<json, Error>(json::object()) : protocol::parse_json(body);
    if (!document) return tl::unexpected(document.error());
    protocol::FieldReader fields(*document, "");
    EmbeddedCluster::Topic topic;
    topic.replication_factor =
        static_cast<int>(fields.integer("replication_factor", 1, brokers, std::min(3, brokers)));
    const auto partitions =
        fields.integer("partitions", 1, kMostPartitions, std::int64_t{kPartitionsPerBroker} * brokers);
    if (const auto* leaders = fields.array("leaders")) {
        const bool good = !leaders->empty() && leaders->size() <= kMostPartitions &&
                          std::all_of(leaders->begin(), leaders->end(), [&](const json& id) {
                              return id.is_number_integer() && id.get<std::int64_t>() >= 1 &&
                                     id.get<std::int64_t>() <= brokers;
                          });
        if (good)
            topic.leaders = leaders->get<std::vector<int>>();
        else
            fields.fault("leaders", "must be broker ids from 1 to " + std::to_string(brokers));
    } else {
        for (int p = 0; p < partitions; ++p) topic.leaders.push_back(p % brokers + 1);
    }
    return fields.finish(topic, "topic");
}

tl::expected<Fault, Error> fault_in(const std::string& body) {
    const auto document = protocol::parse_json(body);
    if (!document) return tl::unexpected(document.error());
    protocol::FieldReader fields(*document, "");
    Fault fault;
    fault.broker = static_cast<int>(fields.integer("broker", 1, 1'000));
    fault.amount = fields.number("amount", 0, 1e6, 1);
    fault.for_s = fields.number("for_s", 0, 86'400, 10);
    const auto kind = fields.text("kind", 20);
    const auto* found =
        std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& k) { return kind == k.first; });
    if (found == kKinds.end())
        fields.fault("kind", "must be silent, restart, slow or throttle, not '" + kind + "'");
    else
        fault.kind = found->second;
    return fields.finish(fault, "fault");
}

json brokers_of(const EmbeddedCluster& cluster, const std::map<int, std::string>& metrics_urls) {
    json brokers = json::array();
    for (const auto& broker : cluster.brokers()) {
        brokers.push_back({{"id", broker.id},
                           {"host", broker.host},
                           {"port", broker.port},
                           {"metrics_url", metrics_urls.at(broker.id)}});
    }
    return {{"cluster_id", "brink-sim"},
            {"bootstrap_servers", cluster.bootstrap_servers()},
            {"config", {{"message.max.bytes", std::to_string(kMessageMaxBytes)}}},
            {"brokers", brokers}};
}

json faults_of(const EmbeddedCluster& cluster) {
    json faults = json::array();
    for (const auto& fault : cluster.faults())
        faults.push_back({{"broker", fault.broker},
                          {"kind", name_of(fault.kind)},
                          {"amount", fault.amount},
                          {"for_s", fault.for_s}});
    return {{"faults", faults}};
}

json model_of(const CapacityModel& model) {
    return {{"io_threads", model.io_threads},
            {"us_per_request", model.us_per_request},
            {"us_per_message", model.us_per_message},
            {"us_per_byte", model.us_per_byte},
            {"noise", model.noise},
            {"seed", model.seed},
            {"churn_above_busy", model.churn_above_busy},
            {"churn_lag_s", model.churn_lag_s}};
}

std::string toml_of(const EmbeddedCluster& cluster, const std::map<int, std::string>& metrics_urls,
                    const std::string& host) {
    std::string text = "[[clusters]]\nname = \"sim\"\nsim_url = \"http://" + host +
                       "\"\nbootstrap_servers = \"" + cluster.bootstrap_servers() + "\"\n";
    for (const auto& [id, url] : metrics_urls)
        text += "[[clusters.metrics]]\nbroker_id = " + std::to_string(id) + "\nurl = \"" + url + "\"\n";
    return text;
}

HttpResponse truth(const EmbeddedCluster& cluster, const HttpRequest& request) {
    const auto bytes = query_number(request, "message_bytes", 1, kLargestMessage, {});
    if (!bytes) return net::problem(bytes.error(), request);
    const auto idle_below = query_number(request, "io_idle_below", 0, 0.99, kIdleBelow);
    if (!idle_below) return net::problem(idle_below.error(), request);
    const auto truth = cluster.truth(*bytes, *idle_below);
    return answer(200, {{"message_bytes", static_cast<std::int64_t>(*bytes)},
                        {"true_msgs_per_s", truth.msgs_per_s},
                        {"log_bytes_per_message", truth.shape.bytes_per_message},
                        {"requests_per_message", truth.shape.requests_per_message},
                        {"shape_observed", truth.shape_observed}});
}

}  // namespace

void add_control_routes(net::Router& router, EmbeddedCluster& cluster,
                        const std::map<int, std::string>& metrics_urls) {
    router.add("GET", "/healthz",
               [](const HttpRequest&) { return HttpResponse{200, "text/plain", "ok\n", {}, {}}; });
    router.add("GET", "/brokers", [&cluster, metrics_urls](const HttpRequest&) {
        return answer(200, brokers_of(cluster, metrics_urls));
    });
    router.add("GET", "/brinkd.toml", [&cluster, metrics_urls](const HttpRequest& request) {
        return HttpResponse{200,
                            "application/toml",
                            toml_of(cluster, metrics_urls, request.header("Host").value_or("")),
                            {},
                            {}};
    });
    router.add("GET", "/model",
               [&cluster](const HttpRequest&) { return answer(200, model_of(cluster.model())); });
    router.add("GET", "/truth", [&cluster](const HttpRequest& request) { return truth(cluster, request); });
    router.add("GET", "/topics", [&cluster](const HttpRequest&) {
        json topics = json::object();
        for (const auto& [name, topic] : cluster.topics()) topics[name] = describe(topic);
        return answer(200, {{"topics", topics}});
    });
    router.add("GET", "/topics/{name}", [&cluster](const HttpRequest& request) {
        const auto topics = cluster.topics();
        const auto at = topics.find(request.path_parameters.at(0));
        if (at == topics.end())
            return net::problem(404, "there is no topic '" + request.path_parameters.at(0) + "'", request);
        return answer(200, describe(at->second));
    });
    router.add("PUT", "/topics/{name}", [&cluster](const HttpRequest& request) {
        const auto topic = topic_in(request.body, static_cast<int>(cluster.brokers().size()));
        if (!topic) return net::problem(topic.error(), request);
        if (auto made = cluster.create_topic(request.path_parameters.at(0), *topic); !made)
            return net::problem(made.error(), request);
        return answer(201, describe(*topic));
    });
    router.add("DELETE", "/topics/{name}", [&cluster](const HttpRequest& request) {
        if (auto gone = cluster.delete_topic(request.path_parameters.at(0)); !gone)
            return net::problem(gone.error(), request);
        return HttpResponse{204, "", "", {}, {}};
    });
    router.add("GET", "/faults", [&cluster](const HttpRequest&) { return answer(200, faults_of(cluster)); });
    router.add("POST", "/faults", [&cluster](const HttpRequest& request) {
        const auto fault = fault_in(request.body);
        if (!fault) return net::problem(fault.error(), request);
        if (auto injected = cluster.inject(*fault); !injected) return net::problem(injected.error(), request);
        return answer(200, faults_of(cluster));
    });
    router.add("DELETE", "/faults", [&cluster](const HttpRequest&) {
        cluster.clear_faults();
        return answer(200, faults_of(cluster));
    });
}

}  // namespace brink::sim

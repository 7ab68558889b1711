#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/cluster/connect.hpp"

namespace brink {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr int kNotFound = 404;
constexpr int kConflict = 409;
constexpr int kFirstFault = 400;

Error bad_reply(const std::string& what) {
    return Error{ErrorCode::bad_reply, what + ": is sim_url the address of a brink-sim?", {}};
}

ErrorCode code_of(int status) {
    if (status == kNotFound) return ErrorCode::not_found;
    if (status == kConflict) return ErrorCode::conflict;
    return status < 500 ? ErrorCode::invalid_input : ErrorCode::unavailable;
}

std::vector<PartitionInfo> partitions_of(const json& topic) {
    std::vector<PartitionInfo> found;
    for (const auto& leader : topic.at("leaders")) {
        // The mock keeps one copy, whatever the replication factor says.
        const int id = leader.get<int>();
        found.push_back({static_cast<int>(found.size()), id, {id}, {id}});
    }
    return found;
}

class SimCluster final : public Cluster {
  public:
    SimCluster(std::string url, net::HttpClient& http) : url_(std::move(url)), http_(http) {}

    tl::expected<ClusterInfo, Error> describe(milliseconds deadline) override {
        return ask("GET", "/brokers", {}, deadline).and_then([&](const json& reply) {
            return read(reply, [](const json& r) {
                ClusterInfo info;
                info.cluster_id = r.at("cluster_id").get<std::string>();
                for (const auto& b : r.at("brokers"))
                    info.brokers.push_back({b.at("id").get<int>(),
                                            b.at("host").get<std::string>(),
                                            b.at("port").get<int>(),
                                            {}});
                if (!info.brokers.empty()) info.controller_id = info.brokers.front().id;
                return info;
            });
        });
    }

    tl::expected<std::map<std::string, int>, Error> topics(milliseconds deadline) override {
        return ask("GET", "/topics", {}, deadline).and_then([&](const json& reply) {
            return read(reply, [](const json& r) {
                std::map<std::string, int> found;
                for (const auto& [name, topic] : r.at("topics").items())
                    found[name] = topic.at("partitions").get<int>();
                return found;
            });
        });
    }

    tl::expected<void, Error> create_topic(const TopicSpec& topic, milliseconds deadline) override {
        json leaders = json::array();
        for (const auto& replicas : topic.replicas) leaders.push_back(replicas.front());
        const auto copies = topic.replicas.empty() ? 1 : topic.replicas.front().size();
        const json body{{"leaders", std::move(leaders)}, {"replication_factor", copies}};
        return ask("PUT", "/topics/" + topic.name, body.dump(), deadline).map([](const json&) {});
    }

    tl::expected<std::vector<PartitionInfo>, Error> partitions(const std::string& topic,
                                                               milliseconds deadline) override {
        return ask("GET", "/topics/" + topic, {}, deadline).and_then([&](const json& reply) {
            return read(reply, [](const json& r) { return partitions_of(r); });
        });
    }

    tl::expected<std::map<std::string, std::vector<PartitionInfo>>, Error> layout(
        milliseconds deadline) override {
        return ask("GET", "/topics", {}, deadline).and_then([&](const json& reply) {
            return read(reply, [](const json& r) {
                std::map<std::string, std::vector<PartitionInfo>> found;
                for (const auto& [name, topic] : r.at("topics").items()) found[name] = partitions_of(topic);
                return found;
            });
        });
    }

    tl::expected<void, Error> delete_topic(const std::string& topic, milliseconds deadline) override {
        const auto gone = ask("DELETE", "/topics/" + topic, {}, deadline);
        if (gone || gone.error().code == ErrorCode::not_found) return {};
        return tl::unexpected(gone.error());
    }

    tl::expected<std::map<std::string, std::string>, Error> broker_config(int,
                                                                          milliseconds deadline) override {
        return ask("GET", "/brokers", {}, deadline).and_then([&](const json& reply) {
            return read(reply, [](const json& r) {
                return r.at("config").get<std::map<std::string, std::string>>();
            });
        });
    }

    /// The mock keeps 5 MB of a partition and drops the rest by itself.
    tl::expected<void, Error> empty_topic(const std::string&, milliseconds) override { return {}; }

  private:
    tl::expected<json, Error> ask(const std::string& method, const std::string& path, const std::string& body,
                                  milliseconds deadline) {
        net::ClientRequest request{.method = method, .url = url_ + path, .body = body};
        const auto response = http_.call(request, deadline);
        if (!response) return tl::unexpected(response.error().within("brink-sim"));
        if (response->body.empty() && response->status < kFirstFault) return json::object();
        auto reply = json::parse(response->body, nullptr, false);
        if (reply.is_discarded() || !reply.is_object())
            return tl::unexpected(bad_reply(method + " " + url_ + path + " did not answer a JSON object"));
        if (response->status < kFirstFault) return reply;
        const auto detail = reply.find("detail");
        return tl::unexpected(Error{code_of(response->status),
                                    "brink-sim: " + (detail != reply.end() && detail->is_string()
                                                         ? detail->get<std::string>()
                                                         : "status " + std::to_string(response->status)),
                                    {}});
    }

    /// Takes what is wanted out of a reply; one that lacks it is a bad reply.
    template <class Take>
    auto read(const json& reply, Take take) -> tl::expected<decltype(take(reply)), Error> {
        try {
            return take(reply);
        } catch (const json::exception& fault) {
            return tl::unexpected(
                bad_reply("the answer of " + url_ + " is not understood (" + fault.what() + ")"));
        }
    }

    std::string url_;
    net::HttpClient& http_;
};

}  // namespace

std::unique_ptr<Cluster> make_sim_cluster(const std::string& url, net::HttpClient& http) {
    return std::make_unique<SimCluster>(url, http);
}

}  // namespace brink

#include <doctest/doctest.h>

#include <chrono>

#include "agents/net/http_client.hpp"
#include "agents/net/http_server.hpp"
#include "daemon/cluster/connect.hpp"
#include "deploy/sim/control_api.hpp"

using namespace brink;
using namespace std::chrono_literals;

namespace {

/// An embedded cluster of three brokers, and brinkd's view of it through the control interface.
struct Served {
    std::unique_ptr<sim::EmbeddedCluster> embedded;
    net::Router router;
    std::unique_ptr<net::HttpServer> server;
    net::HttpClient http;
    std::unique_ptr<Cluster> cluster;

    Served() {
        auto started = sim::EmbeddedCluster::start({}, 3);
        REQUIRE_MESSAGE(started, started.error().message);
        embedded = std::move(*started);
        sim::add_control_routes(router, *embedded, {{1, "http://m/1"}, {2, "http://m/2"}, {3, "http://m/3"}});
        auto listening = net::HttpServer::listen(
            "127.0.0.1:0", [this](const net::HttpRequest& request) { return router(request); });
        REQUIRE(listening);
        server = std::move(*listening);
        ClusterConfig config;
        config.name = "sim";
        config.sim_url = "http://" + server->address();
        auto made = connect(config, http);
        REQUIRE(made);
        cluster = std::move(*made);
    }
};

}  // namespace

TEST_CASE("SimCluster: describes the brokers that brink-sim has") {
    Served served;
    const auto info = served.cluster->describe(5s);
    REQUIRE_MESSAGE(info, info.error().message);
    REQUIRE(info->brokers.size() == 3);
    CHECK(info->brokers[1].id == 2);
    CHECK(info->brokers[1].port == served.embedded->brokers()[1].port);
    const auto config = served.cluster->broker_config(2, 5s);
    REQUIRE(config);
    CHECK(config->at("message.max.bytes") == "1048588");
}

TEST_CASE("SimCluster: creates a topic with the leaders asked for, lists it, and deletes it") {
    Served served;
    TopicSpec topic;
    topic.name = "brink-1";
    topic.replicas = {{3, 1}, {1, 2}, {2, 3}};
    const auto created = served.cluster->create_topic(topic, 10s);
    REQUIRE_MESSAGE(created, created.error().message);
    const auto partitions = served.cluster->partitions("brink-1", 5s);
    REQUIRE(partitions);
    REQUIRE(partitions->size() == 3);
    CHECK((*partitions)[0].leader == 3);
    CHECK((*partitions)[2].leader == 2);
    CHECK(served.cluster->topics(5s)->at("brink-1") == 3);
    CHECK(served.cluster->create_topic(topic, 10s).error().code == ErrorCode::conflict);
    CHECK(served.cluster->empty_topic("brink-1", 5s));
    CHECK(served.cluster->delete_topic("brink-1", 5s));
    CHECK(served.cluster->delete_topic("brink-1", 5s));
    CHECK(served.cluster->topics(5s)->empty());
    CHECK(served.cluster->partitions("brink-1", 5s).error().code == ErrorCode::not_found);
}

TEST_CASE("SimCluster: something else at the address is named as what it is not") {
    net::HttpClient http;
    auto page = net::HttpServer::listen("127.0.0.1:0", [](const net::HttpRequest&) {
        return net::HttpResponse{200, "text/html", "<html></html>", {}, {}};
    });
    REQUIRE(page);
    const auto cluster = make_sim_cluster("http://" + (*page)->address(), http);
    const auto info = cluster->describe(5s);
    REQUIRE_FALSE(info);
    CHECK(info.error().code == ErrorCode::bad_reply);
    CHECK(info.error().message.find("sim_url") != std::string::npos);
    const auto address = (*page)->address();
    page->reset();
    CHECK(make_sim_cluster("http://" + address, http)->describe(5s).error().code == ErrorCode::unavailable);
}

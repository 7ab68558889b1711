#include "agents/worker/agent_api.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "agents/protocol/json.hpp"
#include "mock_cluster.hpp"

using namespace brink;
using namespace brink::worker;
using nlohmann::json;

namespace {

/// An agent without its server: calls go straight to the router.
struct Agent {
    TaskTable table{AgentRules{}};
    net::Router router;

    Agent() { add_agent_routes(router, table); }
    net::HttpResponse call(const std::string& method, const std::string& path, const std::string& body = "",
                           std::vector<std::pair<std::string, std::string>> query = {}) const {
        net::HttpRequest request;
        request.method = method;
        request.path = path;
        request.query = std::move(query);
        request.body = body;
        if (!body.empty()) request.headers = {{"Content-Type", "application/json"}};
        return router(request);
    }
};

}  // namespace

TEST_CASE("agent API: a trial from lease to DELETE") {
    const MockCluster cluster;
    const Agent agent;
    const auto body = protocol::to_json(cluster.spec(2, 500)).dump();
    CHECK(agent.call("POST", "/v1/lease", R"({"epoch":1,"lease_ms":30000,"controller":"c"})").status == 200);
    CHECK(agent.call("PUT", "/v1/tasks/s1.t-2_3", body).status == 201);
    CHECK(agent.call("PUT", "/v1/tasks/s1.t-2_3", body).status == 200);
    CHECK(agent.call("POST", "/v1/tasks/s1.t-2_3/start", R"({"epoch":1,"start_in_ms":10})").status == 200);
    const auto report = [&] {
        const auto response =
            agent.call("GET", "/v1/tasks/s1.t-2_3/report", "", {{"since", "0"}, {"epoch", "1"}});
        REQUIRE(response.status == 200);
        return *protocol::read_task_report(*protocol::parse_json(response.body));
    };
    REQUIRE(eventually([&] { return !report().seconds.empty(); }));
    const auto listed = json::parse(agent.call("GET", "/v1/tasks").body);
    CHECK(listed["tasks"][0]["trial"] == "s1.t-2_3");
    const auto facts = protocol::read_host_facts(json::parse(agent.call("GET", "/v1/host").body));
    REQUIRE(facts.has_value());
    CHECK(facts->epoch == 1);
    CHECK(facts->lease_remaining_ms > 0);
    CHECK(agent.call("POST", "/v1/tasks/s1.t-2_3/stop", R"({"epoch":1})").status == 200);
    CHECK(report().state == protocol::TaskState::stopped);
    CHECK(agent.call("DELETE", "/v1/tasks/s1.t-2_3", "", {{"epoch", "1"}}).status == 204);
    CHECK(agent.call("DELETE", "/v1/tasks/s1.t-2_3", "", {{"epoch", "1"}}).status == 204);
    CHECK(agent.call("GET", "/v1/tasks/s1.t-2_3/report", "", {{"epoch", "1"}}).status == 404);
    CHECK(agent.call("GET", "/metrics").body.find("brink_agent_messages_acked_total") != std::string::npos);
    CHECK(agent.call("GET", "/healthz").status == 200);
}

TEST_CASE("agent API: bad input is 400 with its place") {
    const Agent agent;
    const auto put = agent.call("PUT", "/v1/tasks/t", R"({"epoch":1,"epoch":2})");
    CHECK(put.status == 400);
    CHECK(json::parse(put.body)["errors"][0]["pointer"] == "/epoch");
    CHECK(agent.call("PUT", "/v1/tasks/t", "{").status == 400);
    CHECK(agent.call("PUT", "/v1/tasks/a b", "{}").status == 400);
    CHECK(agent.call("PUT", "/v1/tasks/" + std::string(65, 'a'), "{}").status == 400);
    CHECK(agent.call("POST", "/v1/lease", R"({"epoch":1,"lease_ms":100})").status == 400);
    CHECK(agent.call("POST", "/v1/tasks/t/stop", R"({"epoch":1,"now":true})").status == 400);
    CHECK(agent.call("GET", "/v1/tasks/t/report").status == 400);
    CHECK(agent.call("GET", "/v1/tasks/t/report", "", {{"epoch", "-1"}}).status == 400);
    CHECK(agent.call("GET", "/v1/tasks/t/report", "", {{"epoch", "1"}, {"sinse", "2"}}).status == 400);
    CHECK(agent.call("DELETE", "/v1/tasks/t").status == 400);
    net::HttpRequest plain;
    plain.method = "POST";
    plain.path = "/v1/lease";
    plain.headers = {{"Content-Type", "text/plain"}};
    plain.body = R"({"epoch":1,"lease_ms":1000})";
    CHECK(agent.router(plain).status == 415);
}

TEST_CASE("agent API: an old epoch is 409 with the one seen") {
    const Agent agent;
    CHECK(agent.call("POST", "/v1/lease", R"({"epoch":7,"lease_ms":5000})").status == 200);
    const auto refused = agent.call("POST", "/v1/lease", R"({"epoch":6,"lease_ms":5000})");
    CHECK(refused.status == 409);
    CHECK(json::parse(refused.body)["detail"].get<std::string>().find("epoch 7") != std::string::npos);
}

// The controller's fleet against two whole agents over HTTP, which load an in-process mock of Kafka.
#include <doctest/doctest.h>

#include <thread>

#include "agents/fleet/http_fleet.hpp"
#include "agents/fleet/window_totals.hpp"
#include "agents/net/http_server.hpp"
#include "agents/worker/agent_api.hpp"
#include "agents/worker/task_table.hpp"
#include "tests/unit/agents/worker/mock_cluster.hpp"

using namespace brink;
using std::chrono::milliseconds;

namespace {

/// An agent as agent_main makes it, on a free port.
struct Agent {
    explicit Agent(const std::string& name) : table(worker::AgentRules{name, 0, {}}) {
        worker::add_agent_routes(router, table);
        server = std::move(net::HttpServer::listen("127.0.0.1:0", [this](const net::HttpRequest& r) {
                               return router(r);
                           }).value());
    }
    [[nodiscard]] fleet::AgentAddress address() const {
        return {.name = "a", .url = "http://" + server->address()};
    }
    worker::TaskTable table;
    net::Router router;
    std::unique_ptr<net::HttpServer> server;
};

struct Rig {
    worker::MockCluster kafka;
    Agent one{"one"};
    Agent two{"two"};
    net::HttpClient http;
    std::vector<fleet::AgentAddress> addresses() {
        auto first = one.address();
        auto second = two.address();
        first.name = "one";
        second.name = "two";
        return {first, second};
    }
};

/// Waits until `holds`, for at most ten seconds.
template <class Condition>
bool eventually(Condition holds) {
    for (int i = 0; i < 200; ++i) {
        if (holds()) return true;
        std::this_thread::sleep_for(milliseconds{50});
    }
    return false;
}

}  // namespace

TEST_CASE(
    "HttpFleet and agents: seven producers are four and three, start together and deliver what is due") {
    Rig rig;
    fleet::HttpFleet fleet(rig.http, rig.addresses(), 5, milliseconds{5000});
    const auto prepared = fleet.prepare("t-1", rig.kafka.spec(7, 100));
    REQUIRE_MESSAGE(prepared, prepared.error().message);
    REQUIRE(fleet.start(milliseconds{200}));
    REQUIRE(eventually([&] {
        const auto reports = fleet.reports(0);
        return reports.size() == 2 && reports[0].report && reports[0].report->seconds.size() >= 3;
    }));
    const auto reports = fleet.reports(0);
    const auto first = fleet::totals_between(*reports[0].report, 0, 2);
    const auto second = fleet::totals_between(*reports[1].report, 0, 2);
    CHECK(first.scheduled == 800);
    CHECK(second.scheduled == 600);
    CHECK(first.acked == 800);
    CHECK(std::abs(reports[0].report->started_at_unix_ms - reports[1].report->started_at_unix_ms) < 100);
    fleet.stop();
    for (const auto& answer : fleet.reports(0)) CHECK(answer.report->state == protocol::TaskState::stopped);
    fleet.remove();
    CHECK(rig.one.table.host().tasks.empty());
}

TEST_CASE(
    "HttpFleet and agents: a newer controller's epoch ends the older one's load and refuses its calls") {
    Rig rig;
    fleet::HttpFleet older(rig.http, rig.addresses(), 5, milliseconds{5000});
    REQUIRE(older.prepare("t-1", rig.kafka.spec(2, 100)));
    REQUIRE(older.start(milliseconds{0}));
    fleet::HttpFleet newer(rig.http, rig.addresses(), 6, milliseconds{5000});
    REQUIRE(newer.prepare("t-2", rig.kafka.spec(2, 100)));
    const auto refused = older.start(milliseconds{0});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("epoch") != std::string::npos);
    for (const auto& answer : older.reports(0)) CHECK_FALSE(answer.report);
}

TEST_CASE("HttpFleet and agents: when the controller falls silent the load ends with the lease") {
    Rig rig;
    {
        fleet::HttpFleet fleet(rig.http, rig.addresses(), 5, milliseconds{1500});
        REQUIRE(fleet.prepare("t-1", rig.kafka.spec(2, 100)));
        REQUIRE(fleet.start(milliseconds{0}));
        // What a controller that stops answering looks like to an agent: nothing more arrives.
        rig.http.abort();
    }
    CHECK(eventually([&] {
        const auto load = rig.one.table.host();
        return load.lease_remaining_ms <= 0;
    }));
}

#include "agents/worker/task_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "mock_cluster.hpp"

using namespace brink;
using namespace brink::worker;
using protocol::LeaseOrder;
using protocol::StartOrder;
using protocol::TaskState;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

template <typename Result>
ErrorCode code_of(const Result& result) {
    REQUIRE_FALSE(result.has_value());
    return result.error().code;
}

protocol::SecondFigures sum(const protocol::TaskReport& report) {
    protocol::SecondFigures total;
    for (const auto& second : report.seconds) {
        total.scheduled += second.scheduled;
        total.sent += second.sent;
        total.acked += second.acked;
        total.failed += second.failed;
        total.unsent += second.unsent;
        total.queue_full += second.queue_full;
    }
    return total;
}

std::uint64_t acked(TaskTable& table) { return table.figures().totals.acked; }
std::uint64_t sent(TaskTable& table) { return table.figures().totals.sent; }

}  // namespace

TEST_CASE("TaskTable: a load goes from prepared to stopped, and every message is accounted for") {
    const MockCluster cluster;
    TaskTable table(AgentRules{});
    const auto prepared = table.prepare("t", cluster.spec(3, 400));
    REQUIRE(prepared.has_value());
    CHECK(prepared->created);
    CHECK(prepared->report.state == TaskState::prepared);
    CHECK(prepared->report.resolved_client.at("allow.auto.create.topics") == "false");
    REQUIRE(table.lease(LeaseOrder{1, 30'000}).has_value());
    REQUIRE(table.start("t", StartOrder{1, 50}).has_value());
    REQUIRE(eventually([&] { return table.report("t", 1, 0)->seconds.size() >= 2; }));
    CHECK(table.report("t", 1, 0)->state == TaskState::running);
    CHECK(table.report("t", 1, 1)->seconds.front().second == 1);
    const auto final = table.stop("t", 1);
    REQUIRE(final.has_value());
    CHECK(final->state == TaskState::stopped);
    CHECK(final->in_flight == 0);
    CHECK(final->seconds.front().scheduled == 1'200);
    CHECK(final->seconds.front().latency.counts.size() > 8);
    const auto total = sum(*final);
    CHECK(total.scheduled == total.sent + total.unsent);
    CHECK(total.sent == total.acked + total.failed);
    CHECK(total.acked > 2'000);
    CHECK(table.stop("t", 1)->state == TaskState::stopped);
}

TEST_CASE("TaskTable: the report says how long each broker takes to answer, as one producer sees it") {
    MockCluster cluster;
    TaskTable table(AgentRules{});
    REQUIRE(table.prepare("t", cluster.spec(3, 300)).has_value());
    REQUIRE(table.lease(LeaseOrder{1, 30'000}).has_value());
    cluster.slow(40);
    REQUIRE(table.start("t", StartOrder{1, 0}).has_value());
    // The first answers, to what was asked while preparing, may have come before the brokers were slow.
    std::map<int, double> slowest;
    REQUIRE(eventually([&] {
        const auto report = table.report("t", 1, 0);
        for (const auto& second : report->seconds)
            for (const auto& [broker, ms] : second.answer_ms) slowest[broker] = std::max(slowest[broker], ms);
        return slowest.size() == 3 &&
               std::all_of(slowest.begin(), slowest.end(), [](const auto& b) { return b.second >= 39; });
    }));
    for (const auto& [broker, ms] : slowest) CHECK(ms < 4'000);
}

TEST_CASE("TaskTable: equal calls are idempotent, another body is a conflict") {
    const MockCluster cluster;
    TaskTable table(AgentRules{});
    const auto spec = cluster.spec(1);
    CHECK(table.prepare("t", spec)->created);
    CHECK_FALSE(table.prepare("t", spec)->created);
    auto other = spec;
    other.rate_each = 501;
    CHECK(code_of(table.prepare("t", other)) == ErrorCode::conflict);
    REQUIRE(table.lease(LeaseOrder{1, 30'000}).has_value());
    const auto first = table.start("t", StartOrder{1, 0});
    const auto again = table.start("t", StartOrder{1, 5'000});
    REQUIRE(again.has_value());
    CHECK(again->started_at_unix_ms == first->started_at_unix_ms);
    CHECK(table.drop("t", 1).has_value());
    CHECK(table.drop("t", 1).has_value());
    CHECK(code_of(table.report("t", 1, 0)) == ErrorCode::not_found);
    CHECK(code_of(table.stop("t", 1)) == ErrorCode::not_found);
}

TEST_CASE("TaskTable: the same task prepared from many threads is made once") {
    const MockCluster cluster;
    TaskTable table(AgentRules{});
    const auto spec = cluster.spec(2);
    std::atomic<int> created{0};
    std::atomic<int> answered{0};
    std::vector<std::thread> callers;
    callers.reserve(4);
    for (int i = 0; i < 4; ++i)
        callers.emplace_back([&] {
            const auto result = table.prepare("t", spec);
            if (result) ++answered;
            if (result && result->created) ++created;
        });
    for (auto& caller : callers) caller.join();
    CHECK(answered == 4);
    CHECK(created == 1);
}

TEST_CASE("TaskTable: nothing starts without a lease, nor after its end") {
    const MockCluster cluster;
    TaskTable table(AgentRules{});
    REQUIRE(table.prepare("t", cluster.spec(1)).has_value());
    CHECK(code_of(table.start("t", StartOrder{1, 0})) == ErrorCode::conflict);
    REQUIRE(table.stop("t", 1).has_value());
    REQUIRE(table.lease(LeaseOrder{1, 5'000}).has_value());
    CHECK(code_of(table.start("t", StartOrder{1, 0})) == ErrorCode::conflict);
}

TEST_CASE("TaskTable: when the lease lapses all load stops by itself within 200 ms") {
    const MockCluster cluster;
    TaskTable table(AgentRules{});
    REQUIRE(table.prepare("t", cluster.spec(2, 1'000)).has_value());
    REQUIRE(table.lease(LeaseOrder{1, 600}).has_value());
    const auto lapses = steady_clock::now() + milliseconds(600);
    REQUIRE(table.start("t", StartOrder{1, 0}).has_value());
    REQUIRE(eventually([&] { return acked(table) > 0; }));
    REQUIRE(eventually([&] { return table.report("t", 1, 0)->state == TaskState::failed; }));
    CHECK(steady_clock::now() - lapses < milliseconds(200));
    CHECK(table.report("t", 1, 0)->state_reason.starts_with("lease lapsed"));
    // A sender may see the end of its lease before the thread that counts it.
    CHECK(eventually([&] { return table.figures().lease_expiries == 1; }));
    REQUIRE(table.stop("t", 1).has_value());  // waits for the wire to be quiet
    const auto before = sent(table);
    CHECK(sum(*table.report("t", 1, 0)).sent == before);
    REQUIRE(table.lease(LeaseOrder{1, 600}).has_value());
    CHECK(table.report("t", 1, 0)->state == TaskState::failed);
}

TEST_CASE("TaskTable: a renewed lease keeps the load going") {
    const MockCluster cluster;
    TaskTable table(AgentRules{});
    REQUIRE(table.prepare("t", cluster.spec(1)).has_value());
    REQUIRE(table.lease(LeaseOrder{1, 500}).has_value());
    REQUIRE(table.start("t", StartOrder{1, 0}).has_value());
    const auto until = steady_clock::now() + milliseconds(1'500);
    while (steady_clock::now() < until) {
        REQUIRE(table.lease(LeaseOrder{1, 500}).has_value());
        std::this_thread::sleep_for(milliseconds(50));
    }
    CHECK(table.report("t", 1, 0)->state == TaskState::running);
}

TEST_CASE("TaskTable: a lower epoch is refused everywhere, naming the one seen") {
    const MockCluster cluster;
    TaskTable table(AgentRules{});
    auto spec = cluster.spec(1);
    spec.epoch = 5;
    REQUIRE(table.prepare("t", spec).has_value());
    auto old = spec;
    old.epoch = 4;
    const auto refused = table.prepare("u", old);
    CHECK(code_of(refused) == ErrorCode::conflict);
    CHECK(refused.error().message.find("epoch 5") != std::string::npos);
    CHECK(code_of(table.lease(LeaseOrder{4, 5'000})) == ErrorCode::conflict);
    CHECK(code_of(table.start("t", StartOrder{4, 0})) == ErrorCode::conflict);
    CHECK(code_of(table.stop("t", 4)) == ErrorCode::conflict);
    CHECK(code_of(table.report("t", 4, 0)) == ErrorCode::conflict);
    CHECK(code_of(table.drop("t", 4)) == ErrorCode::conflict);
    CHECK(table.report("t", 5, 0)->state == TaskState::prepared);
}

TEST_CASE("TaskTable: a higher epoch stops and drops every task of before, and voids their lease") {
    const MockCluster cluster;
    TaskTable table(AgentRules{});
    REQUIRE(table.prepare("old", cluster.spec(2, 1'000)).has_value());
    REQUIRE(table.lease(LeaseOrder{1, 30'000}).has_value());
    REQUIRE(table.start("old", StartOrder{1, 0}).has_value());
    REQUIRE(eventually([&] { return acked(table) > 0; }));
    auto spec = cluster.spec(1);
    spec.epoch = 2;
    REQUIRE(table.prepare("new", spec).has_value());
    CHECK(code_of(table.report("old", 2, 0)) == ErrorCode::not_found);
    CHECK(table.host().tasks == std::vector<std::string>{"new"});
    CHECK(code_of(table.start("new", StartOrder{2, 0})) == ErrorCode::conflict);
    const auto total = table.figures().totals;
    CHECK(total.sent == total.acked + total.failed);
}

TEST_CASE("TaskTable: a task ends by itself at its deadline") {
    const MockCluster cluster;
    TaskTable table(AgentRules{});
    auto spec = cluster.spec(2, 100);
    spec.deadline_s = 1.25;
    REQUIRE(table.prepare("t", spec).has_value());
    REQUIRE(table.lease(LeaseOrder{1, 30'000}).has_value());
    REQUIRE(table.start("t", StartOrder{1, 0}).has_value());
    REQUIRE(eventually([&] { return table.report("t", 1, 0)->state == TaskState::stopped; }));
    const auto report = table.stop("t", 1);
    CHECK(report->state_reason == "deadline");
    CHECK(report->elapsed_s == doctest::Approx(1.25).epsilon(0.1));
    CHECK(report->seconds.size() == 2);
    CHECK(sum(*report).scheduled == 251);  // of two producers half an interval apart: 126 and 125
}

TEST_CASE("TaskTable: stop throws away what is queued and on its way") {
    MockCluster cluster;
    TaskTable table(AgentRules{});
    REQUIRE(table.prepare("t", cluster.spec(2, 1'000)).has_value());
    REQUIRE(table.lease(LeaseOrder{1, 30'000}).has_value());
    cluster.slow(5'000);
    REQUIRE(table.start("t", StartOrder{1, 0}).has_value());
    REQUIRE(eventually([&] { return table.report("t", 1, 0)->in_flight > 500; }));
    const auto asked = steady_clock::now();
    const auto final = table.stop("t", 1);
    CHECK(steady_clock::now() - asked < milliseconds(700));
    CHECK(final->in_flight == 0);
    CHECK(sum(*final).failed > 500);
    REQUIRE_FALSE(final->errors.empty());
    for (const auto& error : final->errors) CHECK(error.code.starts_with("_PURGE"));
}

TEST_CASE("TaskTable: a full queue is counted once a message and ends as unsent") {
    MockCluster cluster;
    TaskTable table(AgentRules{});
    auto spec = cluster.spec(1, 1'000);
    spec.client["queue.buffering.max.messages"] = "100";
    REQUIRE(table.prepare("t", spec).has_value());
    REQUIRE(table.lease(LeaseOrder{1, 30'000}).has_value());
    cluster.slow(10'000);
    REQUIRE(table.start("t", StartOrder{1, 0}).has_value());
    REQUIRE(eventually([&] { return table.report("t", 1, 0)->seconds.size() >= 2; }));
    const auto final = table.stop("t", 1);
    const auto total = sum(*final);
    CHECK(total.sent == 100);
    CHECK(total.scheduled == total.sent + total.unsent);
    CHECK(total.queue_full >= total.unsent - 20);
    CHECK(total.queue_full <= total.unsent);
}

TEST_CASE("TaskTable: what cannot be prepared says why and leaves nothing behind") {
    const MockCluster cluster;
    TaskTable table(AgentRules{});
    auto spec = cluster.spec(1);
    spec.client["no.such.property"] = "1";
    CHECK(code_of(table.prepare("t", spec)) == ErrorCode::invalid_input);
    spec.client = {{"enable.idempotence", "true"}, {"acks", "1"}};  // each fine by itself
    CHECK(code_of(table.prepare("t", spec)) == ErrorCode::invalid_input);
    CHECK(table.host().tasks.empty());
    spec.client.clear();
    CHECK(table.prepare("t", spec).has_value());
}

TEST_CASE("TaskTable: dropping a task that still connects ends its preparation") {
    MockCluster cluster;
    cluster.down();
    TaskTable table(AgentRules{});
    tl::expected<TaskTable::Prepared, Error> result;
    std::thread caller([&] { result = table.prepare("t", cluster.spec(1)); });
    REQUIRE(eventually([&] { return table.host().tasks.size() == 1; }));
    const auto asked = steady_clock::now();
    CHECK(table.drop("t", 1).has_value());
    caller.join();
    CHECK(steady_clock::now() - asked < milliseconds(3'000));
    CHECK(code_of(result) == ErrorCode::conflict);
}

TEST_CASE("TaskTable: the operator's rules hold") {
    const MockCluster cluster;
    TaskTable small(AgentRules{.max_producers = 2});
    CHECK(small.prepare("t", cluster.spec(2)).has_value());
    CHECK(code_of(small.prepare("u", cluster.spec(1))) == ErrorCode::conflict);
    CHECK(small.host().max_producers == 2);
    TaskTable picky(AgentRules{.allowed_bootstrap_servers = {"kafka.example:9092"}});
    const auto refused = picky.prepare("t", cluster.spec(1));
    CHECK(code_of(refused) == ErrorCode::invalid_input);
    CHECK(refused.error().details.front().pointer == "/bootstrap_servers");
}

TEST_CASE("TaskTable: shutting down ends all load and refuses more") {
    const MockCluster cluster;
    TaskTable table(AgentRules{});
    REQUIRE(table.prepare("t", cluster.spec(2, 1'000)).has_value());
    REQUIRE(table.lease(LeaseOrder{1, 30'000}).has_value());
    REQUIRE(table.start("t", StartOrder{1, 0}).has_value());
    REQUIRE(eventually([&] { return acked(table) > 0; }));
    table.shut_down();
    const auto total = table.figures().totals;
    CHECK(total.sent == total.acked + total.failed);
    CHECK(code_of(table.prepare("u", cluster.spec(1))) == ErrorCode::unavailable);
}

#include "daemon/sweep/rest.hpp"

#include <doctest/doctest.h>

#include "daemon/sweep/preflight.hpp"
#include "daemon/sweep/throttles.hpp"
#include "tests/fakes/fake_cluster.hpp"

using namespace brink;
using namespace brink::fakes;

namespace {

RestReport rest_of(Model& model, const RestSettings& settings = {}) {
    FakeMetrics metrics(model);
    auto report = observe_rest(metrics, model.clock, settings, {});
    REQUIRE(report);
    return *report;
}

}  // namespace

TEST_CASE("just_restarted: by the start of the process, else by an idle counter that holds little") {
    const double now = 1'700'000'000;
    CHECK_FALSE(just_restarted({.process_start_s = now - 120}, now));
    CHECK(just_restarted({.process_start_s = now - 45}, now)->find("started only 45 s ago") == 0);
    CHECK_FALSE(just_restarted({.idle_ns = 5e9, .process_start_s = now - 500}, now));  // busy, not young
    CHECK(just_restarted({.idle_ns = 45e9}, now)->find("its idle counter holds 45 s") != std::string::npos);
    CHECK_FALSE(just_restarted({.idle_ns = 121e9}, now));
    CHECK_FALSE(just_restarted({}, now));
}

TEST_CASE("observe_rest: brokers that have just started are warned of and not refused") {
    Model model{3};
    model.process_start_s = static_cast<double>(model.clock.unix_ms()) / 1e3 - 30;
    const auto report = rest_of(model);
    CHECK(report.problems.empty());
    REQUIRE(report.warnings.size() == 1);
    CHECK(report.warnings.at(2).front().find("broker 2 started only 42 s ago") == 0);
}

TEST_CASE("observe_rest: copies between brokers without clients are a reassignment, and refused") {
    Model model{3};
    model.clock.at_time = [&](double now) { model.signals["replication_bytes_in"] = 2e6 * now; };
    const auto report = rest_of(model);
    REQUIRE(report.problems.size() == 3);
    CHECK(
        report.problems.front() ==
        "broker 1 copies 2.00 MB/s from other brokers while clients send 0.00: a reassignment, or a replica "
        "that catches up, is under way");
    Model clients{3};
    clients.foreign_msgs_per_s = 900;  // 0.9 MB/s, allowed, of which each broker may copy two thirds
    clients.foreign_message_bytes = 1000;
    clients.clock.at_time = [&](double now) { clients.signals["replication_bytes_in"] = 0.6e6 * now; };
    CHECK(rest_of(clients).problems.empty());
}

TEST_CASE("observe_rest: a guard that trips without load is a problem at once") {
    Model model{3};
    model.signals["under_min_isr"] = 1;
    CHECK(
        rest_of(model).problems ==
        std::vector<std::string>{"a guard trips without load: 3 partitions have fewer replicas in sync than "
                                 "min.insync.replicas (mark 0)"});
    RestSettings allowed;
    allowed.guards.under_min_isr_above = 3;
    CHECK(rest_of(model, allowed).problems.empty());
}

TEST_CASE("left_behind_throttles: warned of, and refused where they hold back every topic") {
    CHECK(left_behind_throttles(1, {}).warnings.empty());
    CHECK(left_behind_throttles(1, {{"leader.replication.throttled.rate", "9223372036854775807"}})
              .warnings.empty());
    const std::map<std::string, std::string> left{{"follower.replication.throttled.rate", "1000000"}};
    const auto warned = left_behind_throttles(2, left);
    CHECK(warned.problems.empty());
    REQUIRE(warned.warnings.size() == 1);
    CHECK(warned.warnings.front().find("broker 2 has a replication throttle left behind "
                                       "(follower.replication.throttled.rate = 1000000)") == 0);
    auto all = left;
    all["follower.replication.throttled.replicas"] = "*";
    CHECK(left_behind_throttles(2, all).problems.size() == 1);
}

TEST_CASE("look_at: names throttles, reassignments and guards without a signal") {
    Model model{3};
    FakeCluster cluster{model};
    FakeMetrics metrics{model};
    FakeFleet agents{model};
    cluster.config_["leader.replication.throttled.rate"] = "1000000";
    cluster.layouts_["orders"] = {{0, 1, {1, 2}, {1, 2}}, {1, 2, {2, 3, 1}, {2, 3}}};
    const ClusterConfig config{.name = "fake",
                               .bootstrap_servers = "x:1",
                               .metrics = {{.broker_id = 1, .url = "http://x"},
                                           {.broker_id = 2, .url = "http://y"},
                                           {.broker_id = 3, .url = "http://z"}}};
    const auto look = look_at(config, cluster, metrics, agents.status());
    REQUIRE(look);
    CHECK(look->problems.empty());
    REQUIRE(look->warnings.size() == 5);
    CHECK(look->warnings[0].find("broker 1 has a replication throttle") == 0);
    CHECK(look->warnings[3] ==
          "topic orders has 3 replicas of partition 1 and 2 of partition 0: is it being reassigned?");
    CHECK(look->warnings[4].find("not watched during trials: offline partitions (no broker shows") == 0);
    SweepSpec spec;  // g++ 12 takes one made in braces for uninitialised
    spec.message_bytes = {1000};
    CHECK(check_fits(spec, *look));
    spec.topic_config["follower.replication.throttled.replicas"] = "*";
    CHECK(check_fits(spec, *look).error().details.front().pointer == "/topic/config");
}

TEST_CASE("observe_rest: replicas that churn without load are no cluster to judge") {
    Model model{3};
    model.clock.at_time = [&](double) { ++model.shrinks; };
    const auto report = rest_of(model);
    REQUIRE(report.problems.size() == 3);
    CHECK(report.problems.front().find("changed in 100 % of the time without load") != std::string::npos);
}

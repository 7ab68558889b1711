#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "agents/worker/host_limits.hpp"
#include "agents/worker/metrics.hpp"
#include "agents/worker/monotonic.hpp"
#include "agents/worker/process_load.hpp"

using namespace brink::worker;

TEST_CASE("check_room: refuses beforehand what the machine cannot hold, with the numbers") {
    HostLimits limits{.descriptors = 1'000, .descriptors_used = 100, .threads = 0, .threads_used = 10};
    CHECK(check_room(limits, 50, 3).has_value());
    const auto refused = check_room(limits, 100, 3);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == brink::ErrorCode::conflict);
    CHECK(refused.error().message.find("1364 file descriptors") != std::string::npos);
    CHECK(refused.error().message.find("of 1000") != std::string::npos);
    CHECK(check_room(limits, most_producers(limits, 3), 3).has_value());
    CHECK_FALSE(check_room(limits, most_producers(limits, 3) + 1, 3).has_value());
    limits.threads = 100;
    CHECK_FALSE(check_room(limits, 50, 3).has_value());
    CHECK(most_producers(HostLimits{}, 3) == 0);
}

TEST_CASE("parse_cpu_max: reads the quota of a control group") {
    CHECK(parse_cpu_max("200000 100000") == 2);
    CHECK(parse_cpu_max("50000 100000") == 0.5);
    CHECK(parse_cpu_max("max 100000") == 0);
    CHECK(parse_cpu_max("") == 0);
    CHECK(usable_cpus() > 0);
}

TEST_CASE("ProcessLoad: sees a busy thread") {
    ProcessLoad meter;
    const auto until = monotonic_ns() + 50 * kNsPerMs;
    while (monotonic_ns() < until) {
    }
    const auto load = meter.sample();
    CHECK(load.process_cpu_cores > 0.1);
    CHECK(load.cpu_share > 0);
    CHECK(load.rss_mb > 1);
    CHECK(load.threads >= 1);
    const int before = count_open_descriptors();
    const int copy = dup(0);
    CHECK(count_open_descriptors() == before + 1);
    close(copy);
}

TEST_CASE("host_facts: says what it runs on") {
    const auto facts = host_facts();
    CHECK(facts.cpus >= 1);
    CHECK(facts.memory_mb > 100);
    CHECK(facts.librdkafka.starts_with("2."));
    CHECK_FALSE(facts.version.empty());
}

TEST_CASE("metrics_text: has the prefix, the types and the figures") {
    AgentFigures figures;
    figures.totals = {30, 20, 10};
    figures.tasks[brink::protocol::TaskState::running] = 2;
    const auto text = metrics_text(figures);
    for (const char* line : {"# TYPE brink_agent_messages_sent_total counter",
                             "brink_agent_messages_sent_total 30\n", "brink_agent_messages_failed_total 10\n",
                             "brink_agent_tasks{state=\"running\"} 2\n", "brink_agent_build_info{",
                             "brink_agent_lease_expiries_total 0\n", "brink_agent_resident_memory_bytes"}) {
        CAPTURE(line);
        CHECK(text.find(line) != std::string::npos);
    }
}

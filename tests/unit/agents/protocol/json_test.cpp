#include "agents/protocol/json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace brink;
using namespace brink::protocol;
using nlohmann::json;

namespace {

TaskSpec some_spec() {
    TaskSpec spec;
    spec.epoch = 7;
    spec.bootstrap_servers = "127.0.0.1:9092";
    spec.topic = "brink-1";
    spec.client = {{"linger.ms", "5"}};
    spec.message_bytes = 1'000;
    spec.payload = PayloadKind::single_character;
    spec.producers = 3;
    spec.first_producer = 2;
    spec.total_producers = 12;
    spec.rate_each = 7.3;
    spec.deadline_s = 180;
    return spec;
}

std::string first_pointer(const tl::expected<TaskSpec, Error>& result) {
    REQUIRE_FALSE(result.has_value());
    REQUIRE_FALSE(result.error().details.empty());
    CHECK(result.error().code == ErrorCode::invalid_input);
    return result.error().details.front().pointer;
}

tl::expected<TaskSpec, Error> spec_with(const char* field, const json& value) {
    auto document = to_json(some_spec());
    document[field] = value;
    return read_task_spec(document);
}

std::string nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

}  // namespace

TEST_CASE("parse_json: takes what is JSON") {
    CHECK(parse_json(R"({"a":[1,-2,3.5,true,null,"x"]})")->dump() == R"({"a":[1,-2,3.5,true,null,"x"]})");
    CHECK(parse_json(nested(32)).has_value());
}

TEST_CASE("parse_json: refuses what must not be believed, with the place") {
    const std::vector<std::pair<std::string, std::string>> bad = {
        {R"({"a":1,"a":2})", "/a"}, {R"({"x":[{"b/c":1,"b/c":1}]})", "/x/0/b~1c"},
        {R"({"a":1e400})", "/a"},   {R"({"a":NaN})", "/a"},
        {R"({"a":1} x)", ""},       {"", ""},
        {R"({"a":)", "/a"},         {"\xff\xfe", ""},
    };
    for (const auto& [text, pointer] : bad) {
        CAPTURE(text);
        const auto result = parse_json(text);
        REQUIRE_FALSE(result.has_value());
        CHECK(result.error().code == ErrorCode::invalid_input);
        REQUIRE_FALSE(result.error().details.empty());
        CHECK(result.error().details.front().pointer == pointer);
    }
}

TEST_CASE("parse_json: refuses nesting deeper than 32, however deep") {
    REQUIRE_FALSE(parse_json(nested(33)).has_value());
    CHECK(parse_json(nested(33)).error().message.find("32") != std::string::npos);
    CHECK_FALSE(parse_json(std::string(1'000'000, '[')).has_value());
}

TEST_CASE("parse_json: a syntax error names its byte") {
    CHECK(parse_json(R"({"abc": tru})").error().message.find("byte 12") != std::string::npos);
}

TEST_CASE("TaskSpec: survives the way there and back") {
    const auto spec = some_spec();
    const auto back = read_task_spec(*parse_json(to_json(spec).dump()));
    REQUIRE(back.has_value());
    CHECK(*back == spec);
}

TEST_CASE("TaskSpec: numbers of the wrong kind are refused where they stand") {
    for (const auto& value : {json(3e9), json(1.9), json(1.0), json(true), json(-1), json("3"), json(nullptr),
                              json(json::array()), json(0), json(18446744073709551615ULL)}) {
        CAPTURE(value.dump());
        CHECK(first_pointer(spec_with("producers", value)) == "/producers");
    }
    for (const auto& value : {json(0), json(-1.5), json(true), json("1"), json(1e300)}) {
        CAPTURE(value.dump());
        CHECK(first_pointer(spec_with("rate_each", value)) == "/rate_each");
    }
    CHECK(first_pointer(spec_with("message_bytes", 0)) == "/message_bytes");
    CHECK(first_pointer(spec_with("message_bytes", 1'000'000'001)) == "/message_bytes");
    CHECK(first_pointer(spec_with("epoch", -1)) == "/epoch");
    CHECK(first_pointer(spec_with("deadline_s", 86'401)) == "/deadline_s");
    CHECK(first_pointer(spec_with("payload", "zeros")) == "/payload");
    CHECK(first_pointer(spec_with("topic", "")) == "/topic");
    CHECK(first_pointer(spec_with("total_producers", 4)) == "/total_producers");
}

TEST_CASE("TaskSpec: an unknown field is named with the nearest known one") {
    const auto result = spec_with("producer", 3);
    CHECK(first_pointer(result) == "/producer");
    CHECK(result.error().details.front().detail.find("'producers'") != std::string::npos);
}

TEST_CASE("TaskSpec: every fault is listed, missing fields too") {
    const auto result = read_task_spec(json{{"epoch", 1.5}, {"topic", 3}});
    REQUIRE_FALSE(result.has_value());
    std::vector<std::string> pointers;
    for (const auto& detail : result.error().details) pointers.push_back(detail.pointer);
    for (const char* expected : {"/epoch", "/topic", "/bootstrap_servers", "/producers", "/rate_each"})
        CHECK(std::find(pointers.begin(), pointers.end(), expected) != pointers.end());
    CHECK_FALSE(read_task_spec(json::array()).has_value());
}

TEST_CASE("TaskSpec: a client property that is no text is refused without showing it") {
    const auto result = spec_with("client", json{{"sasl.password", 12345}});
    CHECK(first_pointer(result) == "/client/sasl.password");
    CHECK(result.error().message.find("12345") == std::string::npos);
}

TEST_CASE("LeaseOrder: the lease is between 500 ms and a minute") {
    CHECK(read_lease_order(json{{"epoch", 1}, {"lease_ms", 500}, {"controller", "c"}})->lease_ms == 500);
    CHECK(read_lease_order(json{{"epoch", 1}})->lease_ms == 5'000);
    CHECK_FALSE(read_lease_order(json{{"epoch", 1}, {"lease_ms", 499}}).has_value());
    CHECK_FALSE(read_lease_order(json{{"epoch", 1}, {"lease_ms", 60'001}}).has_value());
    CHECK_FALSE(read_lease_order(json{{"lease_ms", 5'000}}).has_value());
}

TEST_CASE("StartOrder: survives, and refuses a negative delay") {
    CHECK(read_start_order(to_json(StartOrder{3, 250}))->start_in_ms == 250);
    CHECK_FALSE(read_start_order(json{{"epoch", 1}, {"start_in_ms", -1}}).has_value());
}

TEST_CASE("TaskReport: survives the way there and back, histograms trimmed on the wire") {
    TaskReport report;
    report.trial = "t-1";
    report.epoch = 9;
    report.state = TaskState::running;
    report.elapsed_s = -0.25;
    report.started_at_unix_ms = 1'700'000'000'000;
    SecondFigures second;
    second.second = 4;
    second.scheduled = 10;
    second.sent = 9;
    second.acked = 8;
    second.failed = 1;
    second.queue_full = 2;
    second.unsent = 1;
    second.send_lag_p99_ms = 0.5;
    second.latency.counts = {0, 0, 0, 5, 0, 3};
    second.throttled_ms = 812.5;
    second.throttled_answers = 7;
    second.longest_throttle_ms = 950;
    second.answer_ms = {{1, 3.25}, {12, 800}};
    report.seconds = {second, SecondFigures{}};
    report.errors = {{"_MSG_TIMED_OUT", "Local: Message timed out", 1}};
    report.in_flight = 3;
    report.longest_stall_ms = 1.5;
    report.resolved_client = {{"acks", "-1"}};
    report.load = {0.5, 1.0, 100, 20, 30};
    const auto document = to_json(report);
    CHECK(document["seconds"][0]["latency"].dump() == R"({"counts":[5,0,3],"first":3})");
    const auto back = read_task_report(*parse_json(document.dump()));
    REQUIRE(back.has_value());
    CHECK(back->seconds == report.seconds);
    CHECK(back->errors == report.errors);
    CHECK(back->elapsed_s == report.elapsed_s);
    CHECK(back->state == TaskState::running);
    CHECK(back->resolved_client == report.resolved_client);
    CHECK(back->load == report.load);
    CHECK(to_json(*back) == document);
}

TEST_CASE("TaskReport: an agent that says nothing of throttling was not throttled") {
    const auto document = to_json(TaskReport{.trial = "t", .seconds = {SecondFigures{}}});
    CHECK_FALSE(document["seconds"][0].contains("throttled_ms"));
    const auto report = read_task_report(document);
    REQUIRE(report.has_value());
    CHECK(report->seconds[0].throttled_ms == 0);
    CHECK(report->seconds[0].throttled_answers == 0);
    CHECK(report->seconds[0].answer_ms.empty());
}

TEST_CASE("TaskReport: nonsense from an agent is refused") {
    const auto good = to_json(TaskReport{.trial = "t", .seconds = {SecondFigures{}}});
    REQUIRE(read_task_report(good).has_value());
    const std::vector<std::pair<std::string, json>> bad = {{"/state", "dancing"},
                                                           {"/elapsed_s", "1"},
                                                           {"/seconds/0/acked", -1},
                                                           {"/seconds/0/acked", 1.5},
                                                           {"/seconds/0/latency", 3},
                                                           {"/seconds/0/latency/first", 1'000'000},
                                                           {"/seconds/0/latency/counts", {-1}},
                                                           {"/seconds/0/throttled_ms", -1},
                                                           {"/seconds/0/throttled_answers", "7"},
                                                           {"/seconds/0/answer_ms", 7},
                                                           {"/seconds/0/answer_ms/one", 7},
                                                           {"/seconds/0/answer_ms/1", "7"},
                                                           {"/seconds/0/answer_ms/1", -7},
                                                           {"/load/threads", true},
                                                           {"/seconds/0/extra", 1},
                                                           {"/trial", 5}};
    for (const auto& [pointer, value] : bad) {
        CAPTURE(pointer);
        auto document = good;
        document[json::json_pointer(pointer)] = value;
        CHECK_FALSE(read_task_report(document).has_value());
    }
    CHECK_FALSE(read_task_report(json("<html>")).has_value());
}

TEST_CASE("HostFacts: survives the way there and back") {
    HostFacts facts;
    facts.agent_id = "a:1";
    facts.version = "0.1.0";
    facts.hostname = "a";
    facts.kernel = "Linux";
    facts.cpus = 2;
    facts.memory_mb = 1'000.5;
    facts.librdkafka = "2.0.2";
    facts.clock_unix_ms = 1.7e12;
    facts.max_producers = 500;
    facts.epoch = 3;
    facts.lease_remaining_ms = 4'999.5;
    facts.tasks = {"t-1", "t-2"};
    const auto document = to_json(facts);
    const auto back = read_host_facts(*parse_json(document.dump()));
    REQUIRE(back.has_value());
    CHECK(to_json(*back) == document);
}

#include "storage/sweep_store.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "store_fixture.hpp"

namespace brink::storage {
namespace {

PointRow a_full_point() {
    PointRow point = a_point("s1", 1, 10'000);
    point.factors_json = R"({"consumers.groups":5})";
    point.state = "done";
    point.state_reason = "bracket closed";
    point.rate_each = 0.1 + 0.2;
    point.lower_producers = 47;
    point.upper_producers = 49;
    point.lower_msgs_per_s = 1.0 / 3.0;
    point.upper_msgs_per_s = 1e17 / 7;
    point.measured_msgs_per_s = 5e-324;
    point.measured_mb_per_s = 1.7976931348623157e308;
    point.wire_mb_per_s = -0.5;
    point.broker_in_mb_per_s = 123456.789;
    point.mb_per_s_per_broker = 41152.263;
    point.p50_ms = 1.25;
    point.p99_ms = 17.0;
    point.worst_idle = 0.2;
    point.isr_churn = 0;
    point.limited_by = "io_idle";
    point.evidence = "verdict of the judge, \"worst\" broker 2";
    point.flags = "irregular short_window";
    point.first_crossings_json = R"([{"signal":"p99_ms"}])";
    point.trials = 9;
    point.started_at_ms = 1'700'000'000'007;
    point.finished_at_ms = 1'700'000'600'999;
    return point;
}

TEST_CASE("SweepStore: makes a file that only its owner may read") {
    const TemporaryDirectory place;
    const auto store = opened(place.file());
    REQUIRE(store->probe());
    struct stat facts{};
    REQUIRE(stat(place.file().c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0600);
    REQUIRE(stat(place.file("brink.db-wal").c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0600);
    CHECK(place.names().size() == 2);
}

TEST_CASE("SweepStore: epochs grow, also after the file was closed") {
    const TemporaryDirectory place;
    CHECK(opened(place.file())->next_epoch().value() == 1);
    const auto store = opened(place.file());
    CHECK(store->next_epoch().value() == 2);
    CHECK(store->next_epoch().value() == 3);
}

TEST_CASE("SweepStore: gives back every field of a sweep and its points") {
    const TemporaryDirectory place;
    SweepRow sweep = a_sweep("s1");
    {
        const auto store = opened(place.file());
        REQUIRE(store->create_sweep(sweep, {a_point("s1", 0, 100), a_point("s1", 1, 10'000)}));
        sweep.state = "failed";
        sweep.state_reason = "it's over";
        sweep.topic = "brink-other";
        sweep.fingerprint_json = R"({"kafka":"4.0"})";
        sweep.rest_json = R"([{"idle":1}])";
        sweep.started_at_ms = 5;
        sweep.finished_at_ms = 6;
        REQUIRE(store->update_sweep(sweep));
        REQUIRE(store->update_point(a_full_point()));
    }
    const auto store = opened(place.file());
    const SweepRow read = store->sweep("s1").value().value();
    CHECK(read.cluster == sweep.cluster);
    CHECK(read.name == sweep.name);
    CHECK(read.state == sweep.state);
    CHECK(read.state_reason == sweep.state_reason);
    CHECK(read.spec_json == sweep.spec_json);
    CHECK(read.topic == sweep.topic);
    CHECK(read.epoch == sweep.epoch);
    CHECK(read.fingerprint_json == sweep.fingerprint_json);
    CHECK(read.rest_json == sweep.rest_json);
    CHECK(read.created_at_ms == sweep.created_at_ms);
    CHECK(read.started_at_ms == sweep.started_at_ms);
    CHECK(read.finished_at_ms == sweep.finished_at_ms);

    const auto points = store->points("s1").value();
    REQUIRE(points.size() == 2);
    CHECK(points[0].message_bytes == 100);
    CHECK(points[0].state == "pending");
    CHECK_FALSE(points[0].lower_producers.has_value());
    const PointRow expected = a_full_point();
    const PointRow& point = points[1];
    CHECK(point.factors_json == expected.factors_json);
    CHECK(point.state == expected.state);
    CHECK(point.state_reason == expected.state_reason);
    CHECK(point.rate_each == expected.rate_each);
    CHECK(point.lower_producers == expected.lower_producers);
    CHECK(point.upper_producers == expected.upper_producers);
    CHECK(point.lower_msgs_per_s == expected.lower_msgs_per_s);
    CHECK(point.upper_msgs_per_s == expected.upper_msgs_per_s);
    CHECK(point.measured_msgs_per_s == expected.measured_msgs_per_s);
    CHECK(point.measured_mb_per_s == expected.measured_mb_per_s);
    CHECK(point.wire_mb_per_s == expected.wire_mb_per_s);
    CHECK(point.broker_in_mb_per_s == expected.broker_in_mb_per_s);
    CHECK(point.mb_per_s_per_broker == expected.mb_per_s_per_broker);
    CHECK(point.p50_ms == expected.p50_ms);
    CHECK(point.p99_ms == expected.p99_ms);
    CHECK(point.worst_idle == expected.worst_idle);
    CHECK(point.isr_churn == expected.isr_churn);
    CHECK(point.limited_by == expected.limited_by);
    CHECK(point.evidence == expected.evidence);
    CHECK(point.flags == expected.flags);
    CHECK(point.first_crossings_json == expected.first_crossings_json);
    CHECK(point.trials == expected.trials);
    CHECK(point.started_at_ms == expected.started_at_ms);
    CHECK(point.finished_at_ms == expected.finished_at_ms);
}

TEST_CASE("SweepStore: gives back every field of a trial, its samples and reports") {
    const TemporaryDirectory place;
    const auto store = opened(place.file());
    REQUIRE(store->create_sweep(a_sweep("s1"), {a_point("s1", 0)}));
    TrialRow trial = a_trial("s1", 1);
    trial.purpose = "calibration";
    REQUIRE(store->begin_trial(trial));
    CHECK(store->trial("s1", 1).value()->state == "running");
    trial = ended(trial);
    trial.limited_by = "isr_churn";
    trial.verdict = "overloaded";
    trial.verdict_json = R"({"reasons":["x"]})";
    trial.offered_msgs_per_s = 6000.5;
    trial.isr_churn = 0.51;
    trial.p50_ms = 2;
    trial.p99_ms = 3.5;
    trial.broker_in_mb_per_s = 99.9;
    auto samples = some_samples(trial, 3, 4);
    samples[5].error = "HTTP 500";
    REQUIRE(store->finish_trial(trial, samples, some_reports(trial)));

    const TrialRow read = store->trials("s1").value().at(0);
    CHECK(read.trial == 1);
    CHECK(read.point == 0);
    CHECK(read.purpose == "calibration");
    CHECK(read.state == "finished");
    CHECK(read.producers == trial.producers);
    CHECK(read.rate_each == trial.rate_each);
    CHECK(read.message_bytes == trial.message_bytes);
    CHECK(read.chosen_because == trial.chosen_because);
    CHECK(read.verdict == "overloaded");
    CHECK(read.published_verdict == "sustained");
    CHECK(read.limited_by == trial.limited_by);
    CHECK(read.verdict_json == trial.verdict_json);
    CHECK(read.offered_msgs_per_s == trial.offered_msgs_per_s);
    CHECK(read.acked_msgs_per_s == trial.acked_msgs_per_s);
    CHECK(read.worst_idle == trial.worst_idle);
    CHECK(read.isr_churn == trial.isr_churn);
    CHECK(read.p50_ms == trial.p50_ms);
    CHECK(read.p99_ms == trial.p99_ms);
    CHECK(read.broker_in_mb_per_s == trial.broker_in_mb_per_s);
    CHECK(read.started_at_ms == trial.started_at_ms);
    CHECK(read.finished_at_ms == trial.finished_at_ms);

    const auto stored = store->samples("s1", 1).value();
    REQUIRE(stored.size() == samples.size());
    for (std::size_t i = 0; i < stored.size(); ++i) {
        CHECK(stored[i].broker_id == samples[i].broker_id);
        CHECK(stored[i].at_ms == samples[i].at_ms);
        CHECK(stored[i].at_s == samples[i].at_s);
        CHECK(stored[i].scrape_ms == samples[i].scrape_ms);
        CHECK(stored[i].in_window == samples[i].in_window);
        CHECK(stored[i].error == samples[i].error);
        CHECK(stored[i].signals_json == samples[i].signals_json);
    }
    const auto reports = store->agent_reports("s1", 1).value();
    REQUIRE(reports.size() == 2);
    CHECK(reports[1].agent == "a2");
    CHECK(reports[1].report_json == R"({"acked":2})");
    CHECK(store->samples("s1", 2).value().empty());
    CHECK_FALSE(store->trial("s1", 2).value().has_value());
}

TEST_CASE("SweepStore: events are numbered, replay from any number and say what changed") {
    const TemporaryDirectory place;
    const auto store = opened(place.file());
    SweepRow sweep = a_sweep("s1");
    PointRow point = a_point("s1", 0);
    REQUIRE(store->create_sweep(sweep, {point}));
    sweep.state = "running";
    REQUIRE(store->update_sweep(sweep));
    REQUIRE(store->update_sweep(sweep));  // the same again is no event
    point.state = "running";
    REQUIRE(store->update_point(point));
    const TrialRow trial = a_trial("s1", 1);
    REQUIRE(store->begin_trial(trial));
    REQUIRE(store->finish_trial(ended(trial), {}, {}));
    point.state = "done";
    point.lower_producers = 4;
    REQUIRE(store->update_point(point));
    REQUIRE(store->update_point(point));
    sweep.state = "succeeded";
    REQUIRE(store->update_sweep(sweep));

    const auto events = store->events("s1", 0, 100).value();
    std::string kinds;
    for (const EventRow& event : events) kinds += event.kind + " ";
    CHECK(
        kinds ==
        "sweep_created sweep_running point_running trial_started trial_finished point_done sweep_succeeded ");
    for (std::size_t i = 1; i < events.size(); ++i) CHECK(events[i].seq > events[i - 1].seq);
    CHECK(events[0].at_ms == 1'700'000'009'000);
    CHECK(nlohmann::json::parse(events[0].body_json) ==
          nlohmann::json{
              {"state", "pending"}, {"cluster", "local"}, {"name", "before-upgrade"}, {"points", 1}});
    const auto finished = nlohmann::json::parse(events[4].body_json);
    CHECK(finished["verdict"] == "sustained");
    CHECK(finished["trial"] == 1);
    CHECK(finished["isr_churn"].is_null());
    const auto rest = store->events("s1", events[4].seq, 1).value();
    REQUIRE(rest.size() == 1);
    CHECK(rest[0].seq == events[5].seq);
}

TEST_CASE("SweepStore: lists newest first, page by page") {
    const TemporaryDirectory place;
    const auto store = opened(place.file());
    for (const char* id : {"a", "b", "c", "d"}) REQUIRE(store->create_sweep(a_sweep(id), {}));
    const auto ids = [](const std::vector<SweepRow>& rows) {
        std::string text;
        for (const SweepRow& row : rows) text += row.id;
        return text;
    };
    CHECK(ids(store->sweeps(3).value()) == "dcb");
    CHECK(ids(store->sweeps(3, "b").value()) == "a");
    CHECK(store->sweeps(-1).value().empty());
    CHECK(store->sweeps(3, "x").error().code == ErrorCode::not_found);
    SweepRow done = a_sweep("c");
    done.state = "succeeded";
    REQUIRE(store->update_sweep(done));
    CHECK(ids(store->unfinished_sweeps().value()) == "dba");
}

TEST_CASE("SweepStore: deletes an ended sweep with all that belongs to it, and never a running one") {
    const TemporaryDirectory place;
    make_database(place.file());
    const auto store = opened(place.file());
    CHECK(store->delete_sweep("s1").error().code == ErrorCode::conflict);
    const auto last = store->events("s1", 0, 100).value().back().seq;
    SweepRow sweep = a_sweep("s1");
    sweep.state = "cancelled";
    REQUIRE(store->update_sweep(sweep));
    REQUIRE(store->delete_sweep("s1"));
    CHECK(store->delete_sweep("s1").error().code == ErrorCode::not_found);
    CHECK(store->points("s1").value().empty());
    CHECK(store->trials("s1").value().empty());
    CHECK(store->samples("s1", 1).value().empty());
    CHECK(store->agent_reports("s1", 1).value().empty());
    CHECK(store->events("s1", 0, 100).value().empty());
    REQUIRE(store->create_sweep(a_sweep("s1"), {}));
    CHECK(store->events("s1", 0, 100).value().front().seq > last + 1);
}

TEST_CASE("SweepStore: what the state forbids changes nothing") {
    const TemporaryDirectory place;
    const auto store = opened(place.file());
    REQUIRE(store->create_sweep(a_sweep("s1"), {a_point("s1", 0)}));
    const TrialRow trial = a_trial("s1", 1);
    SUBCASE("the same sweep twice") {
        CHECK(store->create_sweep(a_sweep("s1"), {}).error().code == ErrorCode::conflict);
    }
    SUBCASE("a sweep whose second point is bad leaves nothing") {
        CHECK_FALSE(store->create_sweep(a_sweep("s2"), {a_point("s2", 0), a_point("s2", 0)}));
        CHECK_FALSE(store->sweep("s2").value().has_value());
        CHECK_FALSE(store->create_sweep(a_sweep("s2"), {a_point("s1", 9)}));  // of another sweep
        CHECK_FALSE(store->sweep("s2").value().has_value());
    }
    SUBCASE("updates of what is not there") {
        CHECK(store->update_sweep(a_sweep("s2")).error().code == ErrorCode::not_found);
        CHECK(store->update_point(a_point("s1", 7)).error().code == ErrorCode::not_found);
        CHECK(store->begin_trial(a_trial("s2", 1)).error().code == ErrorCode::not_found);
        CHECK(store->finish_trial(ended(trial), {}, {}).error().code == ErrorCode::not_found);
    }
    SUBCASE("a running trial begins again after a crash, an ended one does not") {
        REQUIRE(store->begin_trial(trial));
        TrialRow again = trial;
        again.producers = 51;
        REQUIRE(store->begin_trial(again));
        CHECK(store->trial("s1", 1).value()->producers == 51);
        REQUIRE(store->finish_trial(ended(again), {}, {}));
        CHECK(store->begin_trial(trial).error().code == ErrorCode::conflict);
        CHECK(store->finish_trial(ended(trial), {}, {}).error().code == ErrorCode::conflict);
        CHECK(store->trial("s1", 1).value()->producers == 51);
    }
    SUBCASE("a trial cannot end as running") {
        REQUIRE(store->begin_trial(trial));
        CHECK_FALSE(store->finish_trial(trial, {}, {}));
    }
    SUBCASE("an outcome with a bad sample is stored not at all") {
        REQUIRE(store->begin_trial(trial));
        auto samples = some_samples(trial, 3, 4);
        samples.back().signals_json = "{";
        const auto failed = store->finish_trial(ended(trial), samples, some_reports(trial));
        REQUIRE_FALSE(failed);
        CHECK(failed.error().code == ErrorCode::storage);
        CHECK(failed.error().message.find(place.file().string()) != std::string::npos);
        CHECK(store->trial("s1", 1).value()->state == "running");
        CHECK(store->samples("s1", 1).value().empty());
        samples.back().trial = 2;
        samples.back().signals_json = "{}";
        CHECK_FALSE(store->finish_trial(ended(trial), samples, {}));
        samples.back().trial = 1;
        CHECK(store->finish_trial(ended(trial), samples, some_reports(trial)));
    }
    SUBCASE("a state that is none") {
        SweepRow sweep = a_sweep("s1");
        sweep.state = "running?";
        CHECK(store->update_sweep(sweep).error().code == ErrorCode::storage);
        CHECK(store->sweep("s1").value()->state == "pending");
    }
}

TEST_CASE("SweepStore: a number that is not finite is no reading") {
    const TemporaryDirectory place;
    const auto store = opened(place.file());
    PointRow point = a_point("s1", 0);
    point.p50_ms = std::numeric_limits<double>::quiet_NaN();
    point.p99_ms = std::numeric_limits<double>::infinity();
    point.rate_each = -std::numeric_limits<double>::infinity();
    REQUIRE(store->create_sweep(a_sweep("s1"), {point}));
    point.state = "failed";
    REQUIRE(store->update_point(point));
    const PointRow read = store->points("s1").value().at(0);
    CHECK_FALSE(read.p50_ms.has_value());
    CHECK_FALSE(read.p99_ms.has_value());
    CHECK_FALSE(read.rate_each.has_value());
    TrialRow trial = a_trial("s1", 1);
    trial.rate_each = std::numeric_limits<double>::infinity();
    CHECK(store->begin_trial(trial).error().code == ErrorCode::storage);
}

}  // namespace
}  // namespace brink::storage

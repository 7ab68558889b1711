#include "daemon/sweep/sweep_runner.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "daemon/sweep/recovery.hpp"
#include "daemon/sweep/sweep_id.hpp"
#include "daemon/sweep/trial_record.hpp"
#include "tests/fakes/fake_cluster.hpp"
#include "tests/fakes/late_metrics.hpp"

using namespace brink;
using namespace brink::fakes;
namespace fs = std::filesystem;

namespace {

/// A whole sweep on the fake cluster, with a real store in a folder that goes away.
struct Sweep {
    explicit Sweep(std::vector<std::int64_t> sizes = {1000})
        : spec{.cluster = "fake", .message_bytes = std::move(sizes)} {
        spec.margin = 0.15;
        spec.rate_each = {.kind = RateEach::Kind::messages_per_s, .value = 10};
        fs::create_directories(folder);
        store = std::move(storage::SweepStore::open(folder / "s.sqlite").value());
        row.topic = "brink-" + row.id;
        row.spec_json = to_json(spec).dump();
    }
    ~Sweep() {
        store.reset();
        fs::remove_all(folder);
    }
    void create() {
        for (const auto size : spec.message_bytes) {
            points.push_back(
                {.sweep_id = row.id, .point = static_cast<int>(points.size()), .message_bytes = size});
        }
        REQUIRE(store->create_sweep(row, points));
    }
    void run() {
        create();
        auto look = look_at({.name = "fake",
                             .bootstrap_servers = "x:1",
                             .metrics = {{.broker_id = 1, .url = "http://x"},
                                         {.broker_id = 2, .url = "http://y"},
                                         {.broker_id = 3, .url = "http://z"}}},
                            cluster, *source, agents.status());
        REQUIRE(look);
        SweepRunner runner({cluster, *source, agents, model.clock, *store, board, shutting_down}, limits,
                           spec, *look, row, points);
        runner.run(stop.get_token());
    }
    storage::SweepRow sweep() { return store->sweep(row.id)->value(); }
    storage::PointRow point(std::size_t i = 0) { return store->points(row.id)->at(i); }
    std::vector<storage::TrialRow> trials() { return store->trials(row.id).value(); }

    Model model{3};
    FakeCluster cluster{model};
    FakeMetrics metrics{model};
    MetricsSource* source = &metrics;
    FakeFleet agents{model};
    ProgressBoard board;
    std::atomic<bool> shutting_down{false};
    std::stop_source stop;
    SweepSpec spec;
    SweepLimits limits{};
    storage::SweepRow row{.id = new_sweep_id(1'700'000'000'000), .cluster = "fake"};
    std::vector<storage::PointRow> points;
    fs::path folder =
        fs::temp_directory_path() / ("brink-sweep-test-" + std::to_string(::getpid()) + "-" + row.id);
    std::unique_ptr<storage::SweepStore> store;
};

}  // namespace

TEST_CASE("SweepRunner: finds the boundary that the cluster has, and leaves nothing behind") {
    Sweep s;
    s.model.capacity_msgs_per_s = 1000;  // idle falls to 0.2 at 800 msg/s: 80 producers of 10 msg/s
    s.run();
    CHECK(s.sweep().state == "succeeded");
    const auto point = s.point();
    CHECK(point.state == "done");
    CHECK(*point.lower_producers <= 80);
    CHECK(*point.upper_producers > 80);
    CHECK(*point.upper_producers - *point.lower_producers <= 0.15 * *point.upper_producers);
    CHECK(*point.worst_idle >= 0.20);
    CHECK(point.limited_by == "io_idle");
    CHECK(*point.measured_msgs_per_s == doctest::Approx(*point.lower_msgs_per_s));
    CHECK(*point.p99_ms == doctest::Approx(1.07).epsilon(0.05));
    CHECK(s.cluster.topics_.empty());
    CHECK(s.model.load_msgs_per_s == 0);
}

TEST_CASE("SweepRunner: a quota below what the brokers can do is the boundary, and is named") {
    Sweep s;
    s.model.quota_msgs_per_s = 305;  // of 800 that idle would allow
    s.run();
    CHECK(s.sweep().state == "succeeded");
    const auto point = s.point();
    CHECK(point.limited_by == "quota");
    CHECK(*point.lower_producers <= 30);
    CHECK(*point.upper_producers > 30);
    CHECK(point.evidence == "validated");
    for (const auto& trial : s.trials()) {
        CHECK(trial.verdict != "generator_limited");
        CHECK(trial.verdict_json.find("\"quota_throttled_above\":0.1") != std::string::npos);
    }
}

TEST_CASE("SweepRunner: with auto a quota ends the calibration, and the boundary has producers enough") {
    Sweep s;
    s.spec.rate_each = {};
    s.model.capacity_msgs_per_s = 20'000;
    s.model.quota_msgs_per_s = 500;
    s.run();
    CHECK(s.point().limited_by == "quota");
    CHECK(*s.point().upper_producers >= 5);
}

TEST_CASE("SweepRunner: network threads that give out are the boundary, and nobody else is blamed") {
    Sweep s;
    s.model.network_msgs_per_s = 305;  // of 800 that idle would allow
    s.run();
    const auto point = s.point();
    CHECK(point.limited_by == "delivery");
    CHECK(*point.lower_producers <= 30);
    CHECK(*point.upper_producers > 30);
    for (const auto& trial : s.trials()) {
        CHECK(trial.published_verdict == "sustained");
        CHECK(trial.verdict != "generator_limited");
        if (trial.verdict == "overloaded")
            CHECK(trial.verdict_json.find("the network threads of broker") != std::string::npos);
    }
}

TEST_CASE("SweepRunner: with the rule for quotas switched off a throttled trial is nobody's fault") {
    Sweep s;
    s.model.quota_msgs_per_s = 305;
    s.spec.quota = false;
    s.run();
    const auto trials = s.trials();
    CHECK(std::none_of(trials.begin(), trials.end(), [](const auto& t) {
        return t.verdict == "generator_limited" || t.limited_by == "quota";
    }));
    CHECK(s.point().state == "failed");
    CHECK(s.point().state_reason.find("unexplained") != std::string::npos);
}

TEST_CASE(
    "SweepRunner: samples that somebody else makes, later and less often than asked for, find the same") {
    Sweep s;
    LateMetrics late(s.model, 9, 14);
    s.source = &late;
    s.spec.rate_each = {};
    s.run();
    CHECK(s.sweep().state == "succeeded");
    const auto point = s.point();
    CHECK(*point.lower_msgs_per_s <= 800);
    CHECK(*point.upper_msgs_per_s > 800);
    for (const auto& trial : s.trials()) {
        CHECK(trial.verdict != "invalid");
        // The default of 5 s would leave sub-windows without a sample.
        CHECK(trial.verdict_json.find("\"sub_window_s\":9.0") != std::string::npos);
    }
}

TEST_CASE("SweepRunner: every trial is stored with why it was chosen, its samples and its reports") {
    Sweep s;
    s.run();
    for (const auto& trial : s.trials()) {
        CHECK(trial.state == "finished");
        CHECK_FALSE(trial.chosen_because.empty());
        CHECK(s.store->samples(s.row.id, trial.trial)->size() >= 36);
        CHECK(s.store->agent_reports(s.row.id, trial.trial)->size() == 1);
    }
    CHECK(s.point().trials == static_cast<int>(s.trials().size()));
}

TEST_CASE("SweepRunner: with auto about fifty producers are at the boundary, and the rate is stored") {
    Sweep s({100, 10'000});
    s.spec.rate_each = {};
    s.model.capacity_msgs_per_s = 20'000;
    s.run();
    for (std::size_t i : {0U, 1U}) {
        const auto point = s.point(i);
        CHECK(*point.rate_each == doctest::Approx(320));
        CHECK(*point.lower_producers <= 50);
        CHECK(*point.upper_producers >= 50);
    }
    const auto trials = s.trials();
    CHECK(std::count_if(trials.begin(), trials.end(),
                        [](const auto& t) { return t.purpose == "calibration"; }) >= 2);
}

TEST_CASE("SweepRunner: a topic that cannot be emptied between two sizes does not cost the sweep") {
    Sweep s({1000, 2000});
    s.run();
    CHECK(s.sweep().state == "succeeded");
    CHECK(std::count(s.model.log.begin(), s.model.log.end(), "empty " + s.row.topic) == 1);
}

TEST_CASE("SweepRunner: churn that grows with load limits the point by isr_churn") {
    Sweep s;
    s.model.capacity_msgs_per_s = 1e9;
    s.model.churning = true;
    s.run();
    CHECK(s.point().limited_by == "isr_churn");
    CHECK(s.point().flags.find("below_one") != std::string::npos);
}

TEST_CASE("SweepRunner: a broker whose metrics go missing under load is never sustained") {
    Sweep s;
    s.model.silent_under_load = true;
    s.run();
    CHECK(s.sweep().state == "failed");
    CHECK(s.point().state == "failed");
    CHECK(s.point().state_reason.find("missing") != std::string::npos);
    for (const auto& trial : s.trials()) CHECK(trial.verdict == "invalid");
    CHECK(s.trials().size() == 4);
}

TEST_CASE("SweepRunner: a task that ends by itself makes the trial invalid, not slow") {
    Sweep s;
    s.agents.ended = true;
    s.run();
    CHECK(s.point().state == "failed");
    CHECK(s.point().state_reason.find("lease lapsed") != std::string::npos);
}

TEST_CASE("SweepRunner: a shortfall that nobody explains is invalid") {
    Sweep s;
    s.model.acked_share = 0.9;
    s.run();
    CHECK(s.point().state_reason.find("unexplained") != std::string::npos);
}

TEST_CASE("SweepRunner: a cancel stops the load at once and keeps what had finished") {
    Sweep s({1000, 2000});
    int finished = 0;
    s.model.clock.at_time = [&](double) {
        if (!s.stop.stop_requested() && s.store->points(s.row.id)->at(0).state == "done" &&
            s.model.load_msgs_per_s > 0) {
            ++finished;
            s.stop.request_stop();
        }
    };
    s.run();
    CHECK(finished == 1);
    CHECK(s.sweep().state == "cancelled");
    CHECK(s.point(0).state == "done");
    CHECK(s.point(1).state == "failed");
    CHECK(s.trials().back().state == "void");
    CHECK(s.model.load_msgs_per_s == 0);
    CHECK(s.cluster.topics_.empty());
}

TEST_CASE("SweepRunner: foreign traffic at rest refuses the sweep before any load") {
    Sweep s;
    s.model.load_msgs_per_s = 500;
    s.model.message_bytes = 100'000;
    s.model.capacity_msgs_per_s = 1e9;
    s.run();
    CHECK(s.sweep().state == "failed");
    CHECK(s.sweep().state_reason.find("other clients") != std::string::npos);
    CHECK(s.trials().empty());
}

TEST_CASE("SweepRunner: a topic that already exists is refused, and not deleted") {
    Sweep s;
    s.cluster.topics_[s.row.topic] = 1;
    s.run();
    CHECK(s.sweep().state == "failed");
    CHECK(s.cluster.topics_.count(s.row.topic) == 1);
}

TEST_CASE("SweepRunner: offline partitions stop the load with the reading, and end the sweep") {
    Sweep s({1000, 2000});
    double shown_at = 0;
    s.model.clock.at_time = [&](double now) {
        if (s.model.load_msgs_per_s > 0 && now > 1100 && shown_at == 0)
            shown_at = now, s.model.signals["offline_partitions"] = 3;
    };
    s.run();
    CHECK(s.sweep().state == "failed");
    CHECK(s.sweep().state_reason ==
          "a guard ended the sweep: 3 partitions of the cluster are offline (mark 0)");
    const auto trials = s.trials();
    REQUIRE(trials.size() == 1);
    CHECK(trials[0].verdict == "invalid");
    // The one reason: that the rest of the window was not measured follows from it.
    CHECK(nlohmann::json::parse(trials[0].verdict_json)["reasons"] ==
          nlohmann::json{"a guard stopped the load: 3 partitions of the cluster are offline (mark 0)"});
    CHECK(shown_at > 0);
    CHECK(s.model.clock.now_s() - shown_at <= s.spec.scrape_interval_s + 2);
    CHECK(s.point(1).state == "failed");
}

TEST_CASE("SweepRunner: other clients during a trial stop its load, and it is tried again") {
    Sweep s;
    s.model.clock.at_time = [&](double now) {
        // 5 MB/s from the middle of the first trial to its end
        const auto trials = s.store->trials(s.row.id).value();
        const bool foreign = now > 1100 && trials.size() == 1 && trials[0].state == "running";
        s.model.foreign_msgs_per_s = foreign ? 5000 : 0;
        s.model.foreign_message_bytes = 1000;
    };
    s.run();
    CHECK(s.sweep().state == "succeeded");
    const auto trials = s.trials();
    CHECK(outcome_of(trials[0]).reason.find("a guard stopped the load: other clients send at least") == 0);
    CHECK(trials[1].verdict != "invalid");
    CHECK(trials[0].producers == trials[1].producers);
}

TEST_CASE("SweepRunner: a guard of the user's own stops the trial, or the sweep where it says so") {
    for (const bool ends_sweep : {false, true}) {
        CAPTURE(ends_sweep);
        Sweep s({1000, 2000});
        s.limits.guards.signals = {{.name = "max_lag", .above = 100, .ends_sweep = ends_sweep}};
        s.model.clock.at_time = [&](double) {
            s.model.signals["max_lag"] =
                s.model.load_msgs_per_s > 0 && s.model.message_bytes == 1000 ? 101 : 0;
        };
        s.run();
        CHECK(s.point(0).state == "failed");
        CHECK(s.point(0).state_reason.find("max_lag of broker 1 is 101, above the mark 100") !=
              std::string::npos);
        CHECK(s.point(1).state == (ends_sweep ? "failed" : "done"));
        CHECK(s.trials().front().verdict == "invalid");
    }
}

TEST_CASE("SweepRunner: a size that the brokers refuse fails at once, and the other sizes go on") {
    Sweep s({1000, 2000});
    s.model.delivery_error = "MSG_SIZE_TOO_LARGE";
    s.model.clock.at_time = [&](double) {
        if (s.store->points(s.row.id)->at(0).state == "failed") s.model.delivery_error.clear();
    };
    s.run();
    CHECK(s.point(0).state == "failed");
    CHECK(s.point(0).state_reason.find("messages of this size are refused (MSG_SIZE_TOO_LARGE") == 0);
    CHECK(s.point(1).state == "done");
    const auto trials = s.trials();
    CHECK(std::count_if(trials.begin(), trials.end(), [](const auto& t) { return t.point == 0; }) == 1);
}

TEST_CASE("SweepRunner: a broker that restarts in a trial voids it, and the topic is laid out anew") {
    Sweep s;
    s.model.process_start_s = 1000;
    bool restarted = false;
    s.model.clock.at_time = [&](double now) {
        if (restarted || s.model.load_msgs_per_s == 0 || now < 1150) return;
        restarted = true;
        s.model.process_start_s = 2000;
        s.cluster.move_leaders_off_broker_2();
    };
    s.run();
    CHECK(restarted);
    CHECK(s.sweep().state == "succeeded");
    const auto trials = s.trials();
    const auto voided =
        std::find_if(trials.begin(), trials.end(), [](const auto& t) { return t.verdict == "invalid"; });
    REQUIRE(voided != trials.end());
    CHECK(voided->verdict_json.find("broker 2 restarted during the window") != std::string::npos);
    CHECK(voided->verdict_json.find("the leader of partition") != std::string::npos);
    CHECK(std::count_if(trials.begin(), trials.end(), [](const auto& t) { return t.verdict == "invalid"; }) ==
          1);
    CHECK(std::count(s.model.log.begin(), s.model.log.end(), "create " + s.row.topic) == 2);
}

TEST_CASE("SweepRunner: leaders that move during a trial void it, though nothing else shows it") {
    Sweep s;
    bool moved = false;
    s.model.clock.at_time = [&](double now) {
        if (moved || s.model.load_msgs_per_s == 0 || now < 1150) return;
        moved = true;
        s.cluster.move_leaders_off_broker_2();
    };
    s.run();
    const auto trials = s.trials();
    REQUIRE(trials.front().verdict == "invalid");
    CHECK(outcome_of(trials.front()).reason.find("the leader of partition") == 0);
    CHECK(s.sweep().state == "succeeded");
}

TEST_CASE("end_orphans: what an earlier controller left running ends, what had finished stays") {
    Sweep s({1000, 2000});
    s.row.state = "running";
    s.create();
    auto done = s.points[0];
    done.state = "done";
    REQUIRE(s.store->update_point(done));
    REQUIRE(s.store->begin_trial({.sweep_id = s.row.id,
                                  .trial = 1,
                                  .point = 1,
                                  .producers = 5,
                                  .rate_each = 1,
                                  .message_bytes = 2000}));
    const auto ended = end_orphans(*s.store, s.model.clock);
    REQUIRE(ended);
    CHECK(ended->size() == 1);
    CHECK(s.sweep().state == "failed");
    CHECK(s.point(0).state == "done");
    CHECK(s.point(1).state == "failed");
    CHECK(s.trials()[0].state == "void");
    CHECK(end_orphans(*s.store, s.model.clock)->empty());
}

TEST_CASE("SweepRunner: guided calibrates the first sizes, and lets them tell the rate of the later ones") {
    Sweep s({100, 1000, 2000, 4000});
    s.spec.strategy = "guided";
    s.spec.margin = 0.1;
    s.spec.rate_each = {};
    s.model.capacity_msgs_per_s = 50'000;
    s.run();
    CHECK(s.sweep().state == "succeeded");
    std::map<std::int64_t, int> calibrations;
    std::map<std::int64_t, int> searches;
    for (const auto& trial : s.trials())
        ++(trial.purpose == "calibration" ? calibrations : searches)[trial.message_bytes];
    CHECK(calibrations[100] >= 2);
    CHECK(calibrations[1000] == 1);
    CHECK(calibrations[2000] == 0);
    CHECK(calibrations[4000] == 0);
    for (std::size_t i = 0; i < 4; ++i) {
        CAPTURE(i);
        const auto point = s.point(i);
        CHECK(*point.lower_msgs_per_s <= 40'000);
        CHECK(*point.upper_msgs_per_s > 40'000);
        CHECK(point.flags.find("off_curve") == std::string::npos);
        CHECK(searches[point.message_bytes] <= 4);
    }
}

TEST_CASE(
    "SweepRunner: agents that close their books late, as they do under overload, are not taken for lost") {
    Sweep s;
    s.model.books_late_s = 2.5;
    s.run();
    CHECK(s.sweep().state == "succeeded");
    for (const auto& trial : s.trials()) CHECK(trial.verdict != "invalid");
}

TEST_CASE("SweepRunner: agents that never close their books make invalid trials") {
    Sweep s;
    s.model.books_late_s = 60;
    s.run();
    CHECK(s.point().state == "failed");
    for (const auto& trial : s.trials()) CHECK(trial.verdict == "invalid");
}

TEST_CASE(
    "SweepRunner: where all is acknowledged a trial ends at once, else late acknowledgements are waited "
    "for") {
    const auto tail_s = [](double acked_share) {
        Sweep s;
        s.model.acked_share = acked_share;
        s.spec.producers_max = 4;
        s.spec.early_end = false;
        s.run();
        const auto trial = s.trials().front();
        return static_cast<double>(*trial.finished_at_ms - trial.started_at_ms) / 1e3 - s.spec.warm_up_s -
               s.spec.measure_s;
    };
    CHECK(tail_s(1.0) < 1);
    CHECK(tail_s(0.997) >= 1.5);  // enough to be sustained, so one look later is enough as well
    CHECK(tail_s(0.9) >= 5);
}

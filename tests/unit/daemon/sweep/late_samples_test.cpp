#include <doctest/doctest.h>

#include <algorithm>

#include "daemon/sweep/preflight.hpp"
#include "daemon/sweep/rest.hpp"
#include "tests/fakes/late_metrics.hpp"
#include "tests/fakes/one_trial.hpp"

using namespace brink;
using namespace brink::fakes;

namespace {

/// One trial on metrics that come late.
struct Trial : OneTrial {
    Trial(double interval_s, double lag_s) : OneTrial(60, interval_s), metrics(model, interval_s, lag_s) {}
    TrialResult run() { return OneTrial::run(metrics); }

    LateMetrics metrics;
};

}  // namespace

TEST_CASE("TrialRunner: waits for samples that come after the window they belong to, with the load held") {
    Trial t(5, 13);
    bool loaded = true;
    double latest_s = 0;
    t.model.clock.at_time = [&](double now) {
        latest_s = now;
        loaded = loaded && t.model.load_msgs_per_s > 0;
    };
    const auto result = t.run();
    CHECK(result.verdict.kind == VerdictKind::sustained);
    CHECK(*result.verdict.worst_idle == doctest::Approx(0.9).epsilon(0.001));
    for (const int broker : {1, 2, 3}) CHECK(readings_in_window(result, broker) >= 12);
    CHECK(loaded);
    CHECK(latest_s >= result.to_s + 13);
    CHECK(latest_s <= result.to_s + 13 + 5 + 1);
    CHECK(t.model.load_msgs_per_s == 0);
}

TEST_CASE("TrialRunner: a broker whose last samples never come makes the trial invalid") {
    Trial t(1, 2);
    t.metrics.silent_broker = 2;
    t.metrics.silent_from_s = t.model.clock.now_s() + 60;  // ten seconds before the window's end
    const auto result = t.run();
    CHECK(result.verdict.kind == VerdictKind::invalid);
    CHECK(readings_in_window(result, 2) >= 12);  // enough for a verdict, were it not for the end
    REQUIRE_FALSE(result.verdict.reasons.empty());
    CHECK(result.verdict.reasons[0].find("no sample from after the window came within 3 s of broker 2") == 0);
}

TEST_CASE("TrialRunner: can be stopped while it waits for late samples") {
    Trial t(5, 100);
    const double end_s = t.model.clock.now_s() + 0.5 + 70;
    t.model.clock.at_time = [&](double now) {
        if (now > end_s + 5) t.stop.request_stop();
    };
    const auto result = t.run();
    CHECK(result.verdict.kind == VerdictKind::invalid);
    CHECK(t.model.clock.now_s() < end_s + 10);
    CHECK(t.model.load_msgs_per_s == 0);
}

TEST_CASE("TrialRunner: a guard that trips on a late sample stops the load at once") {
    Trial t(1, 20);
    const double end_s = t.model.clock.now_s() + 0.5 + 70;
    t.metrics.offline_from_s = end_s - 18;  // to be had two seconds after the window
    const auto result = t.run();
    CHECK(result.verdict.kind == VerdictKind::invalid);
    REQUIRE(result.guard);
    CHECK(result.guard->reason.find("offline") != std::string::npos);
    CHECK(t.model.load_msgs_per_s == 0);
    CHECK(t.model.clock.now_s() < end_s + 5);
}

TEST_CASE("Observation: nothing new is neither a sample nor a miss, a dated miss counts where it was") {
    struct Source final : MetricsSource {
        std::vector<Scrape> next;
        std::vector<Scrape> scrape_all(std::chrono::milliseconds) override { return next; }
        [[nodiscard]] std::vector<int> broker_ids() const override { return {1, 2}; }
    } source;
    const Error error{ErrorCode::unavailable, "down", {}};
    FakeClock clock;
    Observation seen({1, 2});
    Scrape quiet{1, tl::unexpected(error)};
    quiet.nothing_new = true;
    Scrape missed{2, tl::unexpected(error)};
    missed.failed_at_s = clock.now_s() - 10;
    source.next = {quiet, missed};
    seen.scrape(source, clock, {});
    const auto now = seen.between(clock.now_s() - 1, clock.now_s());
    CHECK(now[0].missed == 0);
    CHECK(now[1].missed == 0);
    const auto before = seen.between(clock.now_s() - 11, clock.now_s() - 9);
    CHECK(before[0].missed == 0);
    CHECK(before[1].missed == 1);
    CHECK(before[1].last_error == "down");
    REQUIRE(seen.all().size() == 1);
    CHECK(seen.all()[0].at_unix_ms == clock.unix_ms() - 10'000);
    CHECK(seen.without_reading_from(0) == std::vector<int>{1, 2});
}

TEST_CASE("recover_to_rest: samples from under the load do not pass for rest, and late ones are waited for") {
    Model model{2};
    LateMetrics metrics(model, 5, 10);
    model.load_msgs_per_s = 900;
    model.clock.wait_until(model.clock.now_s() + 60, {});
    metrics.scrape_all({});
    model.load_msgs_per_s = 0;
    const double stopped_s = model.clock.now_s();
    CHECK(recover_to_rest(metrics, model.clock, {}, {}, {}));
    CHECK(model.clock.now_s() >= stopped_s + 10 + 2 * 5);
    CHECK(model.clock.now_s() <= stopped_s + 10 + 4 * 5);
}

TEST_CASE("look_at: a window that holds too few samples of a source is refused with what to set") {
    Model model{3};
    LateMetrics metrics(model, 15, 1);
    FakeCluster cluster(model);
    FakeFleet agents(model);
    model.clock.wait_until(model.clock.now_s() + 60, {});
    const auto look =
        look_at({.name = "fake", .bootstrap_servers = "x:1"}, cluster, metrics, agents.status());
    REQUIRE(look);
    CHECK(look->problems.empty());
    CHECK(look->sampling_interval_s == 15);
    CHECK(std::any_of(look->warnings.begin(), look->warnings.end(), [](const std::string& warning) {
        return warning.find("every 15 s, so trial.measure_s must be at least 180") != std::string::npos;
    }));
    for (const auto& broker : look->brokers) {
        REQUIRE(broker.reading);
        REQUIRE(broker.earlier);
        CHECK(broker.earlier->sample.at_s < broker.reading->sample.at_s);
    }
    SweepSpec spec;
    spec.message_bytes = {100};
    const auto refused = check_fits(spec, *look);
    REQUIRE_FALSE(refused);
    REQUIRE(refused.error().details.size() == 1);
    CHECK(refused.error().details[0].pointer == "/trial/measure_s");
    CHECK(refused.error().details[0].detail.find("120 s hold 8 samples") == 0);
    CHECK(refused.error().details[0].detail.find("set it to 180 or more") != std::string::npos);
    CHECK(refused.error().details[0].detail.find("to 10 s or less") != std::string::npos);
    spec.measure_s = 180;
    CHECK(check_fits(spec, *look));
}

TEST_CASE("look_at: brokers without labels and labels without a broker are problems that name the table") {
    Model model{3};
    Model smaller{2};
    LateMetrics metrics(smaller, 1, 0);
    FakeCluster cluster(model);
    FakeFleet agents(model);
    smaller.clock.wait_until(smaller.clock.now_s() + 5, {});
    ClusterConfig config{.name = "fake", .bootstrap_servers = "x:1"};
    config.prometheus = PrometheusConfig{};
    const auto look = look_at(config, cluster, metrics, agents.status());
    REQUIRE(look);
    REQUIRE(look->problems.size() == 1);
    CHECK(look->problems[0].find("add a [[clusters.prometheus.brokers]] with broker_id = 3") !=
          std::string::npos);
}

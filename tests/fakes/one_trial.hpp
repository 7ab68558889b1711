#pragma once
#include <doctest/doctest.h>

#include <algorithm>

#include "daemon/sweep/trial_runner.hpp"
#include "tests/fakes/fake_cluster.hpp"

namespace brink::fakes {

/// One trial of 100 msg/s on the model: 10 s of warm-up, a window of `measure_s`, scraped every `interval_s`.
struct OneTrial {
    OneTrial(double measure_s, double interval_s) {
        REQUIRE(cluster.create_topic(
            {.name = "t", .replicas = {{1, 2, 3}, {2, 3, 1}, {3, 1, 2}}, .config = {}}, {}));
        order.id = "t";
        order.load.topic = "t";
        order.load.producers = 10;
        order.load.total_producers = 10;
        order.load.rate_each = 10;
        order.load.message_bytes = 100;
        order.warm_up_s = 10;
        order.measure_s = measure_s;
        order.scrape_interval_s = interval_s;
    }
    TrialResult run(MetricsSource& metrics) {
        TrialRunner runner(cluster, agents, metrics, model.clock, board);
        return runner.run(order, {}, stop.get_token());
    }

    Model model{3};
    FakeCluster cluster{model};
    FakeFleet agents{model};
    ProgressBoard board;
    std::stop_source stop;
    TrialOrder order;
};

/// How many readings of this broker lie in the trial's window.
inline int readings_in_window(const TrialResult& result, int broker) {
    return static_cast<int>(
        std::count_if(result.scrapes.begin(), result.scrapes.end(), [&](const ObservedScrape& scrape) {
            return scrape.broker_id == broker && scrape.reading && scrape.at_s >= result.from_s &&
                   scrape.at_s <= result.to_s;
        }));
}

}  // namespace brink::fakes

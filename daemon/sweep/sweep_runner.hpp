#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "agents/fleet/fleet.hpp"
#include "config/controller_config.hpp"
#include "config/sweep_spec.hpp"
#include "daemon/cluster/cluster.hpp"
#include "daemon/metrics/metrics_source.hpp"
#include "daemon/sweep/clock.hpp"
#include "daemon/sweep/preflight.hpp"
#include "daemon/sweep/progress.hpp"
#include "daemon/sweep/rest.hpp"
#include "daemon/sweep/trial_runner.hpp"
#include "search/boundary_search.hpp"
#include "search/warm_start.hpp"
#include "storage/sweep_store.hpp"

namespace brink {

/// What a sweep runs on. All outlive the runner.
struct SweepTools {
    Cluster& cluster;
    MetricsSource& metrics;
    fleet::Fleet& fleet;
    Clock& clock;
    storage::SweepStore& store;
    ProgressBoard& board;
    /// Set before a stop that is the controller's own end, not an operator's cancel.
    const std::atomic<bool>& shutting_down;
    /// Called after a trial is stored; for the controller's own metrics. May be empty.
    std::function<void(const storage::TrialRow&)> on_trial{};
};

/// Limits that come from the controller's configuration, never from a spec.
struct SweepLimits {
    std::string topic_prefix = "brink-";
    int max_producers = 2'000;
    double foreign_bytes_per_s_above = 1e6;  ///< at rest, and by default during a trial
    GuardConfig guards{};
    std::chrono::milliseconds scrape_timeout{4'000};
    int invalid_retries = 3;
    std::map<std::string, std::string> client{};  ///< properties that reach the cluster
    std::string bootstrap_servers{};
};

/// Runs one sweep from its stored row to its end, as plain sequential code on the caller's thread. Everything
/// that happened is in the store before it is acted on.
class SweepRunner {
  public:
    SweepRunner(SweepTools tools, SweepLimits limits, SweepSpec spec, Preflight look, storage::SweepRow sweep,
                std::vector<storage::PointRow> points);
    /// Returns when the sweep has ended and its end is stored. No load is left, and its topic is deleted.
    void run(const std::stop_token& stop);

  private:
    tl::expected<void, Error> trace_curve(const std::stop_token& stop);
    tl::expected<void, Error> create_topic();
    void empty_topic();
    /// Lays the topic out anew where its leaders have moved (a broker restarted, a rebalance): brokers that
    /// lead unequal shares would be judged for it. Called without load.
    tl::expected<void, Error> restore_topic();
    tl::expected<void, Error> learn_rest(const std::stop_token& stop);
    tl::expected<void, Error> answer(storage::PointRow& point, const std::stop_token& stop);
    tl::expected<void, Error> resolve_rate(storage::PointRow& point, const std::stop_token& stop);
    tl::expected<PointDone, Error> search_boundary(storage::PointRow& point, const std::stop_token& stop);
    /// The other points of this sweep that have both ends.
    [[nodiscard]] std::vector<FinishedPoint> finished_besides(const storage::PointRow& point) const;
    /// What the finished points let expect of this one, for a strategy that uses it.
    [[nodiscard]] std::optional<MessagesPerSecond> expected_boundary(const storage::PointRow& point) const;
    tl::expected<storage::TrialRow, Error> run_trial(storage::TrialRow trial, TrialOrder order,
                                                     const std::stop_token& stop);
    [[nodiscard]] TrialOrder order_for(const storage::PointRow& point, int producers, double rate_each) const;
    [[nodiscard]] std::string fingerprint() const;
    void finish(const tl::expected<void, Error>& outcome, const std::stop_token& stop);

    SweepTools tools_;
    SweepLimits limits_;
    SweepSpec spec_;
    Preflight look_;
    storage::SweepRow sweep_;
    std::vector<storage::PointRow> points_;
    TrialRunner trials_;
    RestSettings rest_settings_;
    std::vector<RestReading> rest_;
    std::vector<storage::TrialRow> point_trials_;  ///< search trials of the point at hand, in order
    int last_trial_ = 0;
    bool topic_created_ = false;
};

}  // namespace brink

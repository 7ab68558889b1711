#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "agents/fleet/fleet.hpp"
#include "agents/fleet/window_totals.hpp"
#include "daemon/cluster/cluster.hpp"
#include "daemon/metrics/metrics_source.hpp"
#include "daemon/sweep/clock.hpp"
#include "daemon/sweep/guards.hpp"
#include "daemon/sweep/observation.hpp"
#include "daemon/sweep/progress.hpp"
#include "search/verdict.hpp"

namespace brink {

/// One trial to run: what load, for how long, judged how.
struct TrialOrder {
    std::string id;           ///< unique for the agents; [A-Za-z0-9._-]{1,64}
    protocol::TaskSpec load;  ///< `producers` is the total over all agents; `deadline_s` is filled in
    double warm_up_s = 60;
    double measure_s = 120;
    double scrape_interval_s = 5;
    std::chrono::milliseconds scrape_timeout{4'000};
    bool early_end = false;  ///< whether the window may end once the brokers' signals leave no doubt
    int max_extensions = 0;  ///< how often it may go on for six scrapes more, while they do
    JudgeRules rules{};
    GuardConfig guards{};
    double foreign_bytes_per_s_above = 1e6;  ///< traffic of others, while the trial runs
};

/// What a trial was and showed. Everything the verdict rests on is here, to be stored.
struct TrialResult {
    Verdict verdict{};
    /// Recorded signals over the window, each of the worst broker; see `signal_marks`.
    std::map<std::string, double> signals{};
    std::optional<GuardTrip> guard{};  ///< what stopped the load before its time
    std::vector<ObservedScrape> scrapes{};
    std::vector<fleet::AgentReport> reports{};
    double from_s = 0;  ///< measuring window, monotonic
    double to_s = 0;
    bool ended_early = false;      ///< the window is shorter than was ordered, since nothing was in doubt
    int extensions = 0;            ///< how often it was made longer
    fleet::WindowTotals totals{};  ///< over all agents, in the window
    double offered_msgs_per_s = 0;
    double acked_msgs_per_s = 0;
    std::optional<double> p50_ms{};
    std::optional<double> p99_ms{};
    double broker_in_bytes_per_s = 0;  ///< what the brokers say came in, all of them together
};

/// Runs one trial: look at the topic → start producers → warm-up → measure (until there is no doubt, or for
/// longer while there is) → stop → look again → judge.
/// Whatever happens, no load of it is left when `run` returns. Not thread-safe: one trial at a time.
class TrialRunner {
  public:
    TrialRunner(Cluster& cluster, fleet::Fleet& fleet, MetricsSource& metrics, Clock& clock,
                ProgressBoard& board)
        : cluster_(cluster), fleet_(fleet), metrics_(metrics), clock_(clock), board_(board) {}

    TrialResult run(const TrialOrder& order, const std::vector<RestReading>& rest,
                    const std::stop_token& stop);

  private:
    struct Window;
    /// Scrapes until `until`; notes in `voided` what makes the trial worthless and ends early then. Ends as
    /// well, and says so, when `enough` holds after a scrape.
    bool observe(const TrialOrder& order, double until, Observation& seen, std::vector<std::string>& voided,
                 const std::stop_token& stop, const std::function<bool()>& enough = {});
    /// The measuring window: moves its end to before or after what was ordered, as the samples demand.
    void measure(const TrialOrder& order, const std::vector<RestReading>& rest, Window& at, Observation& seen,
                 TrialResult& result, TrialWindow& window, const std::stop_token& stop);
    /// Whether the samples so far leave no doubt, asked after each scrape.
    bool enough_seen(TrialWindow so_far, const std::vector<RestReading>& rest, const JudgeRules& rules,
                     const Window& at);
    /// Stops the load where a guard forbids it, before anything else is done with the reading.
    void keep_guard(const TrialOrder& order, const Observation& seen, std::vector<std::string>& voided);
    /// Where samples arrive late, goes on until every broker has one from after the window, with the load
    /// held: only then is all of the window there. Notes in `voided` whom it waited for in vain.
    void await_late_samples(const TrialOrder& order, double to_s, Observation& seen,
                            std::vector<std::string>& voided, const std::stop_token& stop);
    void look_after_agents(std::vector<std::string>& voided);
    void show(const Observation& seen, double from, const TrialOrder& order);

    Cluster& cluster_;
    fleet::Fleet& fleet_;
    MetricsSource& metrics_;
    Clock& clock_;
    ProgressBoard& board_;
    double load_since_s_ = 0;                ///< when the load began
    std::optional<Traffic> traffic_before_;  ///< the first that was read of this trial
    std::optional<GuardTrip> guard_;         ///< what tripped in this trial
    std::int64_t next_second_ = 0;           ///< of the agents' reports, for a cheap look at how they are
    int samples_seen_ = 0;                   ///< of every broker in the window, when last looked at
    int silent_looks_ = 0;                   ///< how often in a row an agent did not answer
};

}  // namespace brink

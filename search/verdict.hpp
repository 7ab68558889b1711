#pragma once
#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "search/trial.hpp"

namespace brink {

/// One scrape of one broker. Times are seconds on the controller's monotonic clock, taken half-way between
/// request and last byte. A reading that was absent or not a number is empty; counters are as exported.
struct BrokerSample {
    double at_s = 0;
    std::optional<double> at_unix_s{};    ///< the same moment on the controller's wall clock
    std::optional<double> idle_ns{};      ///< counter: idle ns of the request-handler pool, per thread
    std::vector<double> busy_s{};         ///< counters: busy seconds of each shard, always in one order
    std::optional<double> idle_gauge{};   ///< gauge: idle share, averaged over the last `idle_gauge_s`
    double idle_gauge_s = 0;              ///< time constant of that average: 60 for a one-minute rate
    std::optional<double> isr_shrinks{};  ///< counter
    std::optional<double> isr_expands{};  ///< counter
    std::optional<double>
        isr_shrinks_rate{};  ///< one-minute rate, where there is no counter: only rises count
    std::optional<double> isr_expands_rate{};    ///< likewise
    std::optional<double> under_replicated{};    ///< gauge: partitions this broker leads that lack followers
    std::optional<double> offline_partitions{};  ///< gauge, where exported
    std::optional<double> bytes_in{};            ///< counter: bytes from clients, all topics
    std::optional<double> messages_in{};         ///< counter: messages from clients, all topics
    std::optional<double> process_start_s{};     ///< gauge: start of the broker's process, unix seconds
    std::optional<double> network_idle{};        ///< gauge: share of the network threads' time, 0..1
    std::optional<double> produce_requests{};    ///< counter
    std::optional<double> produce_ms{};          ///< counter: what those took inside the broker, all together
    std::optional<double> max_lag{};             ///< gauge: messages that its most backward follower lacks

    /// Whether it says in any way how busy the broker is.
    [[nodiscard]] bool has_idle() const { return idle_ns || !busy_s.empty() || idle_gauge; }
};

/// All scrapes of one broker in a trial's window, oldest first.
struct BrokerWindow {
    int broker_id = 0;
    std::vector<BrokerSample> samples;
    int missed = 0;            ///< scrapes that failed or came too late
    std::string last_error{};  ///< why the latest of them did
};

/// A reading and its time, in s on the clock of the samples.
struct TimedValue {
    double at_s = 0;
    double value = 0;
};

/// One agent's part in the window.
struct AgentWindow {
    std::string agent;
    double scheduled = 0;  ///< messages due in the window
    double acked = 0;      ///< of those, acknowledged
    double failed = 0;     ///< of those, reported as failed
    /// How long brokers' quotas held its producers back, summed over the producers, …
    double throttled_s = 0;
    double producer_s = 0;         ///< … of this much time: producers × seconds; 0 where it is not known
    double throttled_answers = 0;  ///< answers of brokers with a throttle time
    double longest_throttle_ms = 0;
    /// How long brokers took to answer its requests in the mean, by broker id, from the wire and back.
    std::map<int, double> answer_ms{};
    bool lost = false;  ///< it stopped answering, or its task ended by itself
    /// What shows that this agent was short of something (CPU, queue, schedule); empty when nothing does.
    std::vector<std::string> saturation{};
    std::string first_error{};               ///< the first delivery error, as librdkafka names it
    std::vector<std::string> error_codes{};  ///< all of them, e.g. MSG_SIZE_TOO_LARGE, over the whole task
};

/// What a broker showed before the first trial, with no load from us.
struct RestReading {
    int broker_id = 0;
    double idle = 1.0;     ///< about 1, or about 2 where both pools of a combined node mark one meter
    double isr_churn = 0;  ///< share of sub-windows
    double bytes_in_per_s = 0;
};

/// Thresholds; every one is stored with the verdict it made.
struct JudgeRules {
    double io_idle_below = 0.20;       ///< in (0, 1)
    double isr_churn_above = 0.50;     ///< in (0, 1)
    bool mean_across_brokers = false;  ///< false: the worst broker decides
    double sub_window_s = 5;           ///< length of an ISR sub-window
    double missing_scrapes_above = 0.10;
    double implausible_idle_above = 1.1;
    double delivered_below = 0.995;       ///< acknowledged ÷ scheduled
    bool quota = true;                    ///< whether throttling by a broker's quota makes `overloaded`
    double quota_throttled_above = 0.10;  ///< share of the producers' time
    bool replication = true;              ///< whether a partition long out of its ISR makes `overloaded`
    double replica_lag_s = 30;            ///< how long that is: Kafka's replica.lag.time.max.ms, by default
    bool delivery = true;              ///< whether a shortfall that a broker answers for makes `overloaded`
    double network_idle_below = 0.20;  ///< what a broker's network threads are short of time below
    double broker_time_above = 0.50;   ///< share of the producers' time that a broker answers for above
    int min_scrapes = 12;              ///< per broker and window
};

/// A rule's reading of a window.
struct RuleFigure {
    std::string rule;  ///< io_idle, isr_churn, quota, replication, delivery …
    double value = 0;
    double threshold = 0;
    double uncertainty = 0;  ///< half-width at 95 %, same unit as `value`
    int broker_id = -1;      ///< the broker that decided, −1 for the cluster
    bool fired = false;
};

/// One broker's figures in a window.
struct BrokerFigures {
    int broker_id = 0;
    double idle = 0;
    double isr_churn = 0;
    double bytes_in_per_s = 0;
    double messages_in_per_s = 0;
    std::optional<double> network_idle{};  ///< mean of the gauge, which Kafka itself averages over 30 to 60 s
    std::optional<double> answer_ms{};     ///< as the agents saw it, their mean
    std::optional<double> produce_ms{};    ///< that a produce request was inside the broker, mean
    /// Share of our producers' time in which the broker had a produce request in hand. A broker works on one
    /// request of a connection at a time, so that 1 is: on all of them always.
    std::optional<double> broker_time{};
    int scrapes = 0;
    int missed = 0;
};

/// Churn shows up to 45 s late with Kafka's default lag limit; a shorter window (in s) cannot promise to have
/// seen it.
inline constexpr double kLongEnoughForChurn_s = 60;

/// Flag of a verdict whose window was not alike from beginning to end.
inline constexpr const char* kNotSteady = "not_steady";
/// Flag of a verdict whose idle lies within its own uncertainty of the threshold, after all extensions.
inline constexpr const char* kUndecided = "undecided";

struct Verdict {
    VerdictKind kind = VerdictKind::invalid;
    /// By the two published rules alone; `invalid` where they cannot be read.
    VerdictKind published = VerdictKind::invalid;
    std::string
        limited_by{};  ///< first rule that fired, in the order of the specification; `generator`; or empty
    std::vector<std::string> reasons{};  ///< sentences
    std::vector<std::string> flags{};
    std::vector<RuleFigure> figures{};
    std::vector<BrokerFigures> brokers{};
    std::optional<double> worst_idle{};
    std::optional<double> median_idle{};
    std::optional<double> isr_churn{};
    double sub_windows = 0;  ///< how many `isr_churn` is a share of

    /// What this rule read; null where it was not asked.
    [[nodiscard]] const RuleFigure* figure(const std::string& rule) const;
};

/// What the judge looks at. `brokers` has an entry for every broker of the cluster, also the silent ones.
struct TrialWindow {
    double from_s = 0;  ///< monotonic, as in the samples
    double to_s = 0;
    std::vector<BrokerWindow> brokers;
    std::vector<AgentWindow> agents;
    std::vector<std::string>
        voided{};                  ///< what happened that makes the window worthless (lost lease, guard, …)
    double scrape_interval_s = 0;  ///< as configured; 0: not known, so nothing counts as a hole
    /// How long messages waited for their acknowledgement, from when they were due: mean over all agents of
    /// those due in one second, in ms, in order.
    std::vector<TimedValue> waits_ms{};
    int partitions = 0;          ///< of the topic; 0: not known
    bool leaders_equal = false;  ///< every broker leads equally many partitions of the topic
    /// What changed about the topic during the trial; reported behind what may have caused it.
    std::vector<std::string> topic_faults{};
};

/// Judges a window. Pure. Never answers `sustained` when something needed is unknown.
/// Idle = ΔCount ÷ Δt in ns, exactly (Kafka's meter counts idle nanoseconds averaged over the pool's
/// threads).
Verdict judge(const TrialWindow& window, const std::vector<RestReading>& rest, const JudgeRules& rules);

/// The idle share of a window, and how well it is known.
struct WindowIdle {
    double value = 0;        ///< as counted: may be above 1, about 2 where two pools mark one meter
    double uncertainty = 1;  ///< half-width at 95 %; 1 with too few scrapes to say anything
};

/// Windowed idle of one broker's samples; its fault says why there is none.
/// - From a counter of idle nanoseconds: ΔCount ÷ Δt, exactly.
/// - From busy seconds of shards: 1 − the busiest shard's Δ ÷ Δt.
/// - From a moving average: only once it has settled, in a window of at least twice its time constant.
tl::expected<WindowIdle, std::string> window_idle(const BrokerWindow& window);
/// Its value alone; nothing with fewer than two readings or after a reset.
std::optional<double> idle_over(const BrokerWindow& window);
/// How long a window must be for this sample's kind of idle: 0 for counters.
double least_window_s(const BrokerSample& sample);
/// Whether a counter of `now` is below that of `before`: the broker restarted in between.
bool idle_went_back(const BrokerSample& before, const BrokerSample& now);
/// Share of sub-windows in [from, to] in which ISRs changed on any broker or a partition stood
/// under-replicated.
std::optional<double> isr_churn_over(const std::vector<BrokerWindow>& brokers, double from_s, double to_s,
                                     double sub_window_s);

}  // namespace brink

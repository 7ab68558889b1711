#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What is stored, as values. Times are unix milliseconds UTC; ids are text; JSON columns hold documents that
/// the layers above own. Columns carry their unit in their name.
namespace brink::storage {

/// pending running paused stopping succeeded failed cancelled
struct SweepRow {
    std::string id;
    std::string cluster;
    std::string name{};
    std::string state = "pending";
    std::string state_reason{};
    std::string spec_json{};  ///< as resolved: every default filled in
    std::string topic{};
    std::int64_t epoch = 0;
    std::string fingerprint_json = "{}";
    std::string rest_json = "[]";  ///< readings before the first trial
    std::int64_t created_at_ms = 0;
    std::optional<std::int64_t> started_at_ms{};
    std::optional<std::int64_t> finished_at_ms{};
};

/// pending running done failed. A missing end of the bracket is empty and named in `flags`.
struct PointRow {
    std::string sweep_id;
    int point = 0;  ///< index within the sweep, from 0
    std::int64_t message_bytes = 0;
    std::string factors_json = "{}";
    std::string state = "pending";
    std::string state_reason{};
    std::optional<double> rate_each{};  ///< messages/s of one producer, once resolved
    std::optional<int> lower_producers{};
    std::optional<int> upper_producers{};
    std::optional<double> lower_msgs_per_s{};
    std::optional<double> upper_msgs_per_s{};
    std::optional<double> measured_msgs_per_s{};
    std::optional<double> measured_mb_per_s{};
    std::optional<double> wire_mb_per_s{};
    std::optional<double> broker_in_mb_per_s{};
    std::optional<double> mb_per_s_per_broker{};
    std::optional<double> p50_ms{};
    std::optional<double> p99_ms{};
    std::optional<double> worst_idle{};
    std::optional<double> isr_churn{};
    std::string limited_by{};
    std::string evidence{};
    std::string flags{};  ///< separated by spaces
    std::string first_crossings_json = "[]";
    int trials = 0;
    std::optional<std::int64_t> started_at_ms{};
    std::optional<std::int64_t> finished_at_ms{};
};

/// running finished void
struct TrialRow {
    std::string sweep_id;
    int trial = 0;  ///< number within the sweep, from 1
    int point = 0;
    std::string purpose = "search";  ///< search, or calibration (finding rate_each)
    std::string state = "running";
    int producers = 0;
    double rate_each = 0;
    std::int64_t message_bytes = 0;
    std::string chosen_because{};
    std::string verdict{};  ///< empty until finished
    std::string published_verdict{};
    std::string limited_by{};
    std::string verdict_json = "{}";  ///< reasons, figures, thresholds, uncertainties
    std::optional<double> offered_msgs_per_s{};
    std::optional<double> acked_msgs_per_s{};
    std::optional<double> worst_idle{};
    std::optional<double> isr_churn{};
    std::optional<double> p50_ms{};
    std::optional<double> p99_ms{};
    std::optional<double> broker_in_mb_per_s{};
    std::int64_t started_at_ms = 0;
    std::optional<std::int64_t> finished_at_ms{};
};

/// One scrape of one broker in a trial. `signals_json` holds every reading by its name.
struct SampleRow {
    std::string sweep_id;
    int trial = 0;
    int broker_id = 0;
    std::int64_t at_ms = 0;  ///< unix
    double at_s = 0;         ///< monotonic seconds within the controller's run
    double scrape_ms = 0;
    bool in_window = false;  ///< inside the measuring window
    std::string error{};     ///< why there is no reading
    std::string signals_json = "{}";
};

/// What one agent reported of one trial.
struct AgentReportRow {
    std::string sweep_id;
    int trial = 0;
    std::string agent;
    std::string report_json = "{}";
};

/// A numbered thing that happened; the numbers are what event streams replay from.
struct EventRow {
    std::int64_t seq = 0;
    std::string sweep_id;
    std::int64_t at_ms = 0;
    std::string kind;
    std::string body_json = "{}";
};

}  // namespace brink::storage

#include "storage/events.hpp"

#include <type_traits>
#include <vector>

namespace brink::storage {
namespace {

/// Inserts an event with the members `names` (without quotes: they are our constants) and their values in
/// that order.
template <class... Values>
void add(Database& database, std::int64_t at_ms, const std::string& sweep_id, const std::string& kind,
         const std::vector<const char*>& names, const Values&... values) {
    std::string members;
    for (const char* name : names) members += (members.empty() ? "'" : ", '") + std::string(name) + "', ?";
    auto query =
        database.query("INSERT INTO events (sweep_id, at_ms, kind, body_json) VALUES (?, ?, ?, json_object(" +
                       members + "))");
    query.bind(sweep_id).bind(at_ms).bind(kind);
    (query.bind(values), ...);
    query.run();
}

}  // namespace

void add_sweep_created(Database& database, std::int64_t at_ms, const SweepRow& sweep, std::int64_t points) {
    add(database, at_ms, sweep.id, "sweep_created", {"state", "cluster", "name", "points"}, sweep.state,
        sweep.cluster, sweep.name, points);
}

void add_sweep_state(Database& database, std::int64_t at_ms, const SweepRow& sweep) {
    add(database, at_ms, sweep.id, "sweep_" + sweep.state, {"state", "reason"}, sweep.state,
        sweep.state_reason);
}

void add_point_state(Database& database, std::int64_t at_ms, const PointRow& point) {
    add(database, at_ms, point.sweep_id, "point_" + point.state,
        {"point", "message_bytes", "state", "reason", "rate_each", "lower_producers", "upper_producers",
         "limited_by", "flags"},
        point.point, point.message_bytes, point.state, point.state_reason, point.rate_each,
        point.lower_producers, point.upper_producers, point.limited_by, point.flags);
}

void add_trial_started(Database& database, std::int64_t at_ms, const TrialRow& trial) {
    add(database, at_ms, trial.sweep_id, "trial_started",
        {"trial", "point", "purpose", "message_bytes", "producers", "rate_each", "chosen_because"},
        trial.trial, trial.point, trial.purpose, trial.message_bytes, trial.producers, trial.rate_each,
        trial.chosen_because);
}

void add_trial_finished(Database& database, std::int64_t at_ms, const TrialRow& trial) {
    add(database, at_ms, trial.sweep_id, "trial_finished",
        {"trial", "point", "state", "message_bytes", "producers", "rate_each", "verdict", "limited_by",
         "worst_idle", "isr_churn", "acked_msgs_per_s", "p99_ms"},
        trial.trial, trial.point, trial.state, trial.message_bytes, trial.producers, trial.rate_each,
        trial.verdict, trial.limited_by, trial.worst_idle, trial.isr_churn, trial.acked_msgs_per_s,
        trial.p99_ms);
}

}  // namespace brink::storage

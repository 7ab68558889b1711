#include "daemon/api/views.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <sstream>

#include "config/sweep_spec.hpp"

namespace brink::api {
namespace {

using nlohmann::json;

template <class T>
json or_null(const std::optional<T>& value) {
    return value ? json(*value) : json();
}

json or_null(const std::string& text) { return text.empty() ? json() : json(text); }

/// A document that the store holds as text. It was written by brink, so it parses; should it not, it reads as
/// empty.
json stored(const std::string& text) {
    auto document = json::parse(text, nullptr, false);
    return document.is_discarded() ? json::object() : document;
}

json words(const std::string& text) {
    json list = json::array();
    std::istringstream in(text);
    for (std::string word; in >> word;) list.push_back(word);
    return list;
}

json current_view(const Progress& p, double now_s) {
    return {
        {"point", p.point},
        {"message_bytes", p.message_bytes},
        {"phase", p.phase},
        {"trial", p.trial},
        {"producers", p.producers},
        {"rate_each", p.rate_each},
        {"why", p.why},
        {"phase_ends_in_s", p.phase_ends_at_s > 0 ? json(std::max(0.0, p.phase_ends_at_s - now_s)) : json()},
        {"worst_idle", or_null(p.worst_idle)},
        {"worst_broker", or_null(p.worst_broker)},
        {"isr_churn", or_null(p.isr_churn)},
        {"acked_msgs_per_s", or_null(p.acked_msgs_per_s)},
        {"agent_cpu", or_null(p.agent_cpu)}};
}

bool is_running(const storage::SweepRow& sweep) {
    return sweep.state == "pending" || sweep.state == "running" || sweep.state == "paused" ||
           sweep.state == "stopping";
}

/// Seconds left, as planned less what has been spent; the plan's arithmetic scaled to the points that are
/// open.
void add_estimates(json& view, const storage::SweepRow& sweep, std::size_t open_points,
                   std::int64_t now_unix_ms) {
    const auto from = sweep.started_at_ms.value_or(sweep.created_at_ms);
    const auto to = sweep.finished_at_ms.value_or(now_unix_ms);
    view["elapsed_s"] = static_cast<double>(std::max<std::int64_t>(0, to - from)) / 1000.0;
    view["remaining_s"] = nullptr;
    view["remaining_worst_s"] = nullptr;
    const auto spec = read_sweep_spec(stored(sweep.spec_json));
    if (!is_running(sweep) || !spec) return;
    const auto plan = plan_of(*spec);
    const double share = static_cast<double>(open_points) / std::max(1, plan.points);
    view["remaining_s"] = plan.minutes_expected * 60 * share;
    view["remaining_worst_s"] = plan.minutes_worst * 60 * share;
}

}  // namespace

json time_view(std::optional<std::int64_t> unix_ms) {
    if (!unix_ms) return nullptr;
    const auto seconds = static_cast<std::time_t>(*unix_ms / 1000);
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), *unix_ms % 1000);
}

json sweep_view(const storage::SweepRow& sweep, const std::vector<storage::PointRow>& points,
                const std::vector<storage::TrialRow>& trials, const std::optional<Progress>& current,
                double now_s, std::int64_t now_unix_ms) {
    const auto count = [&](const char* state) {
        return std::count_if(points.begin(), points.end(), [&](const auto& p) { return p.state == state; });
    };
    const auto finished =
        std::count_if(trials.begin(), trials.end(), [](const auto& t) { return t.state == "finished"; });
    json view{{"id", sweep.id},
              {"cluster", sweep.cluster},
              {"name", sweep.name},
              {"state", sweep.state},
              {"state_reason", sweep.state_reason},
              {"created_at", time_view(sweep.created_at_ms)},
              {"started_at", time_view(sweep.started_at_ms)},
              {"finished_at", time_view(sweep.finished_at_ms)},
              {"topic", sweep.topic},
              {"spec", stored(sweep.spec_json)},
              {"rest", stored(sweep.rest_json)},
              {"fingerprint", stored(sweep.fingerprint_json)}};
    view["progress"] = {{"points_total", points.size()},
                        {"points_done", count("done")},
                        {"points_failed", count("failed")},
                        {"trials_finished", finished},
                        {"current", current ? current_view(*current, now_s) : json()}};
    add_estimates(view, sweep, static_cast<std::size_t>(count("pending") + count("running")), now_unix_ms);
    return view;
}

json point_view(const storage::PointRow& p) {
    return {{"point", p.point},
            {"message_bytes", p.message_bytes},
            {"factors", stored(p.factors_json)},
            {"state", p.state},
            {"state_reason", p.state_reason},
            {"rate_each", or_null(p.rate_each)},
            {"lower_producers", or_null(p.lower_producers)},
            {"upper_producers", or_null(p.upper_producers)},
            {"lower_msgs_per_s", or_null(p.lower_msgs_per_s)},
            {"upper_msgs_per_s", or_null(p.upper_msgs_per_s)},
            {"measured_msgs_per_s", or_null(p.measured_msgs_per_s)},
            {"measured_mb_per_s", or_null(p.measured_mb_per_s)},
            {"wire_mb_per_s", or_null(p.wire_mb_per_s)},
            {"broker_in_mb_per_s", or_null(p.broker_in_mb_per_s)},
            {"mb_per_s_per_broker", or_null(p.mb_per_s_per_broker)},
            {"p50_ms", or_null(p.p50_ms)},
            {"p99_ms", or_null(p.p99_ms)},
            {"worst_idle", or_null(p.worst_idle)},
            {"isr_churn", or_null(p.isr_churn)},
            {"limited_by", or_null(p.limited_by)},
            {"evidence", or_null(p.evidence)},
            {"flags", words(p.flags)},
            {"first_crossings", stored(p.first_crossings_json)},
            {"trials", p.trials},
            {"started_at", time_view(p.started_at_ms)},
            {"finished_at", time_view(p.finished_at_ms)}};
}

json trial_view(const storage::TrialRow& t) {
    const auto verdict = stored(t.verdict_json);
    const auto part = [&](const char* key) { return verdict.value(key, json::array()); };
    return {{"trial", t.trial},
            {"point", t.point},
            {"purpose", t.purpose},
            {"state", t.state},
            {"producers", t.producers},
            {"rate_each", t.rate_each},
            {"message_bytes", t.message_bytes},
            {"chosen_because", t.chosen_because},
            {"verdict", or_null(t.verdict)},
            {"published_verdict", or_null(t.published_verdict)},
            {"limited_by", or_null(t.limited_by)},
            {"reasons", part("reasons")},
            {"flags", part("flags")},
            {"figures", part("figures")},
            {"brokers", part("brokers")},
            {"rules", verdict.value("rules", json::object())},
            {"signals", verdict.value("signals", json::object())},
            {"window", verdict.value("window", json())},
            {"offered_msgs_per_s", or_null(t.offered_msgs_per_s)},
            {"acked_msgs_per_s", or_null(t.acked_msgs_per_s)},
            {"worst_idle", or_null(t.worst_idle)},
            {"isr_churn", or_null(t.isr_churn)},
            {"p50_ms", or_null(t.p50_ms)},
            {"p99_ms", or_null(t.p99_ms)},
            {"broker_in_mb_per_s", or_null(t.broker_in_mb_per_s)},
            {"started_at", time_view(t.started_at_ms)},
            {"finished_at", time_view(t.finished_at_ms)}};
}

json sample_view(const storage::SampleRow& s) {
    return {{"broker_id", s.broker_id},         {"at", time_view(s.at_ms)}, {"at_s", s.at_s},
            {"scrape_ms", s.scrape_ms},         {"in_window", s.in_window}, {"error", or_null(s.error)},
            {"signals", stored(s.signals_json)}};
}

json agent_report_view(const storage::AgentReportRow& r) {
    return {{"agent", r.agent}, {"report", stored(r.report_json)}};
}

json agent_view(const fleet::AgentStatus& a) {
    return {{"agent", a.name},
            {"url", a.url},
            {"state", a.state},
            {"reason", or_null(a.reason)},
            {"agent_id", a.facts.agent_id},
            {"version", a.facts.version},
            {"hostname", a.facts.hostname},
            {"cpus", a.facts.cpus},
            {"memory_mb", a.facts.memory_mb},
            {"cpu_share", a.facts.load.cpu_share},
            {"rss_mb", a.facts.load.rss_mb},
            {"max_producers", a.facts.max_producers},
            {"tasks", a.facts.tasks},
            {"epoch", a.facts.epoch},
            {"lease_remaining_ms", a.facts.lease_remaining_ms},
            {"clock_skew_ms", a.clock_skew_ms}};
}

json plan_view(const Plan& plan) {
    return {{"points", plan.points},
            {"trials_expected", plan.trials_expected},
            {"trials_worst", plan.trials_worst},
            {"minutes_expected", plan.minutes_expected},
            {"minutes_worst", plan.minutes_worst}};
}

}  // namespace brink::api

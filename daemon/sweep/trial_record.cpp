#include "daemon/sweep/trial_record.hpp"

#include "agents/protocol/json.hpp"

namespace brink {
namespace {

using nlohmann::json;

json to_json(const RuleFigure& f) {
    return {{"rule", f.rule},           {"value", f.value},
            {"threshold", f.threshold}, {"uncertainty", f.uncertainty},
            {"broker_id", f.broker_id}, {"fired", f.fired}};
}

json or_null(const std::optional<double>& value) { return value ? json(*value) : json(); }

json to_json(const BrokerFigures& b) {
    return {{"broker_id", b.broker_id},
            {"idle", b.idle},
            {"isr_churn", b.isr_churn},
            {"bytes_in_per_s", b.bytes_in_per_s},
            {"messages_in_per_s", b.messages_in_per_s},
            {"network_idle", or_null(b.network_idle)},
            {"answer_ms", or_null(b.answer_ms)},
            {"produce_ms", or_null(b.produce_ms)},
            {"broker_time", or_null(b.broker_time)},
            {"scrapes", b.scrapes},
            {"missed", b.missed}};
}

}  // namespace

json to_json(const Verdict& verdict, const JudgeRules& rules) {
    json figures = json::array();
    for (const auto& f : verdict.figures) figures.push_back(to_json(f));
    json brokers = json::array();
    for (const auto& b : verdict.brokers) brokers.push_back(to_json(b));
    return {{"reasons", verdict.reasons},
            {"flags", verdict.flags},
            {"figures", figures},
            {"brokers", brokers},
            {"median_idle", or_null(verdict.median_idle)},
            {"rules",
             {{"io_idle_below", rules.io_idle_below},
              {"isr_churn_above", rules.isr_churn_above},
              {"across_brokers", rules.mean_across_brokers ? "mean" : "worst"},
              {"sub_window_s", rules.sub_window_s},
              {"missing_scrapes_above", rules.missing_scrapes_above},
              {"delivered_below", rules.delivered_below},
              {"quota", rules.quota},
              {"quota_throttled_above", rules.quota_throttled_above},
              {"replication", rules.replication},
              {"replica_lag_s", rules.replica_lag_s},
              {"delivery", rules.delivery},
              {"network_idle_below", rules.network_idle_below},
              {"broker_time_above", rules.broker_time_above},
              {"min_scrapes", rules.min_scrapes}}}};
}

json to_json(const std::vector<FirstCrossing>& table) {
    json rows = json::array();
    for (const auto& row : table) {
        rows.push_back({{"signal", row.mark.signal},
                        {"side", row.mark.above ? "above" : "below"},
                        {"mark", row.mark.mark},
                        {"msgs_per_s", row.msgs_per_s ? json(*row.msgs_per_s) : json()},
                        {"value", row.value ? json(*row.value) : json()}});
    }
    return rows;
}

void write_outcome(storage::TrialRow& row, const TrialResult& result, const JudgeRules& rules) {
    const auto& verdict = result.verdict;
    row.state = "finished";
    row.verdict = to_string(verdict.kind);
    row.published_verdict = to_string(verdict.published);
    row.limited_by = verdict.limited_by;
    auto document = to_json(verdict, rules);
    document["signals"] = result.signals;
    document["window"] = {{"measured_s", result.to_s - result.from_s},
                          {"ended_early", result.ended_early},
                          {"extensions", result.extensions}};
    row.verdict_json = document.dump();
    row.offered_msgs_per_s = result.offered_msgs_per_s;
    row.acked_msgs_per_s = result.acked_msgs_per_s;
    row.worst_idle = verdict.worst_idle;
    row.isr_churn = verdict.isr_churn;
    row.p50_ms = result.p50_ms;
    row.p99_ms = result.p99_ms;
    row.broker_in_mb_per_s = result.broker_in_bytes_per_s / 1e6;
}

std::vector<storage::SampleRow> sample_rows(const storage::TrialRow& trial, const TrialResult& result) {
    std::vector<storage::SampleRow> rows;
    for (const auto& scrape : result.scrapes) {
        storage::SampleRow row{
            .sweep_id = trial.sweep_id, .trial = trial.trial, .broker_id = scrape.broker_id};
        row.at_ms = scrape.at_unix_ms;
        row.at_s = scrape.at_s;
        row.in_window = scrape.at_s >= result.from_s && scrape.at_s <= result.to_s;
        row.error = scrape.error;
        if (scrape.reading) {
            row.scrape_ms = scrape.reading->scrape_ms;
            row.signals_json = json(scrape.reading->signals).dump();
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<storage::AgentReportRow> agent_report_rows(const storage::TrialRow& trial,
                                                       const TrialResult& result) {
    std::vector<storage::AgentReportRow> rows;
    for (const auto& answer : result.reports) {
        storage::AgentReportRow row{.sweep_id = trial.sweep_id, .trial = trial.trial, .agent = answer.agent};
        row.report_json = answer.report ? protocol::to_json(*answer.report).dump()
                                        : json{{"error", answer.report.error().message}}.dump();
        rows.push_back(std::move(row));
    }
    return rows;
}

TrialOutcome outcome_of(const storage::TrialRow& row) {
    TrialOutcome outcome{.producers = ProducerCount{row.producers}};
    if (row.state == "finished")
        outcome.verdict = verdict_kind_from(row.verdict).value_or(VerdictKind::invalid);
    outcome.worst_idle = row.worst_idle;
    const auto verdict = json::parse(row.verdict_json, nullptr, false);
    if (verdict.is_object() && verdict.contains("reasons") && !verdict["reasons"].empty()) {
        outcome.reason = verdict["reasons"].front().get<std::string>();
    } else if (row.state != "finished") {
        outcome.reason = "the trial did not finish";
    }
    outcome.decided_by_idle = row.verdict != "overloaded" || row.limited_by == "io_idle";
    if (!verdict.is_object() || !verdict.contains("figures")) return outcome;
    for (const auto& figure : verdict["figures"]) {
        if (figure.value("rule", "") == "io_idle")
            outcome.idle_uncertainty = figure.value("uncertainty", 0.0);
    }
    return outcome;
}

}  // namespace brink

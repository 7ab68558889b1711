#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "daemon/sweep/trial_runner.hpp"
#include "search/first_crossing.hpp"
#include "storage/rows.hpp"

// How a trial is written down: from what it showed to the rows that are stored.

namespace brink {

/// Fills the outcome columns of a trial's row.
void write_outcome(storage::TrialRow& row, const TrialResult& result, const JudgeRules& rules);
/// Every scrape of the trial; `in_window` where it counted for the verdict.
std::vector<storage::SampleRow> sample_rows(const storage::TrialRow& trial, const TrialResult& result);
/// What each agent reported, or why it did not.
std::vector<storage::AgentReportRow> agent_report_rows(const storage::TrialRow& trial,
                                                       const TrialResult& result);
/// What the search needs of a stored trial. A trial that never finished is invalid.
TrialOutcome outcome_of(const storage::TrialRow& row);

nlohmann::json to_json(const Verdict& verdict, const JudgeRules& rules);
/// The first-crossing table as it is stored and shown: signal, mark, side, msgs_per_s and value (null: never
/// crossed).
nlohmann::json to_json(const std::vector<FirstCrossing>& table);

}  // namespace brink

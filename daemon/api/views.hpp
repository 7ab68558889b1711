#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agents/fleet/fleet.hpp"
#include "daemon/sweep/plan.hpp"
#include "daemon/sweep/preflight.hpp"
#include "daemon/sweep/progress.hpp"
#include "storage/rows.hpp"

// Stored rows as the JSON of the REST API. Fields and units are those of openapi.yaml.

namespace brink::api {

/// RFC 3339 UTC with milliseconds; null for nothing.
nlohmann::json time_view(std::optional<std::int64_t> unix_ms);
nlohmann::json sweep_view(const storage::SweepRow& sweep, const std::vector<storage::PointRow>& points,
                          const std::vector<storage::TrialRow>& trials,
                          const std::optional<Progress>& current, double now_s, std::int64_t now_unix_ms);
nlohmann::json point_view(const storage::PointRow& point);
nlohmann::json trial_view(const storage::TrialRow& trial);
nlohmann::json sample_view(const storage::SampleRow& sample);
nlohmann::json agent_report_view(const storage::AgentReportRow& report);
nlohmann::json agent_view(const fleet::AgentStatus& agent);
nlohmann::json plan_view(const Plan& plan);

}  // namespace brink::api

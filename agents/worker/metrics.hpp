#pragma once
#include <string>

#include "agents/worker/task_table.hpp"

namespace brink::worker {

/// Prometheus text (format 0.0.4) of an agent's own figures, prefix `brink_agent_`. Pure.
std::string metrics_text(const AgentFigures& figures);

inline constexpr const char* kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace brink::worker

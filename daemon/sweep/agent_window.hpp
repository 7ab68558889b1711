#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/fleet/fleet.hpp"
#include "search/verdict.hpp"

namespace brink {

/// What the judge is to know of one agent's report about the seconds [first, last) of its schedule. Pure.
AgentWindow agent_window(const fleet::AgentReport& answer, std::int64_t first, std::int64_t last);

/// How a report contradicts itself: such a one is worth nothing. Pure.
std::optional<std::string> contradiction_in(const fleet::AgentReport& answer);

/// How long messages due in each of the seconds [first, last) waited for their acknowledgement, in ms, mean
/// over all agents; `from_s` is when the first of them began. Seconds without any are left out. Pure.
std::vector<TimedValue> waits_between(const std::vector<fleet::AgentReport>& answers, std::int64_t first,
                                      std::int64_t last, double from_s);

}  // namespace brink

#include "daemon/cli/agents_view.hpp"

#include <fmt/format.h>

#include "daemon/cli/fields.hpp"
#include "daemon/cli/format.hpp"
#include "daemon/cli/table.hpp"

namespace brink::cli {
namespace {

using nlohmann::json;

std::string or_dash(const std::optional<double>& value, const char* unit) {
    return value ? fmt::format("{:.0f}{}", *value, unit) : "–";
}

}  // namespace

std::vector<std::string> agent_lines(const json& agents) {
    Table table{{{"AGENT"},
                 {"STATE"},
                 {"CPU", true},
                 {"CORES", true},
                 {"RSS", true},
                 {"TASKS", true},
                 {"PRODUCERS max", true},
                 {"CLOCK", true},
                 {"VERSION"},
                 {"URL"}}};
    std::vector<std::string> reasons;
    for (const auto& agent : agents) {
        const auto cpu = number(agent, "cpu_share");
        table.add({text(agent, "agent"), text(agent, "state"), cpu ? format_share(*cpu) : "–",
                   or_dash(number(agent, "cpus"), ""), or_dash(number(agent, "rss_mb"), " MB"),
                   std::to_string(list(agent, "tasks").size()), or_dash(number(agent, "max_producers"), ""),
                   or_dash(number(agent, "clock_skew_ms"), " ms"), text(agent, "version"),
                   text(agent, "url")});
        const std::string reason = text(agent, "reason");
        if (!reason.empty()) reasons.push_back(text(agent, "agent") + ": " + reason);
    }
    auto lines = table.lines();
    lines.insert(lines.end(), reasons.begin(), reasons.end());
    return lines;
}

}  // namespace brink::cli

#include "daemon/sweep/agent_window.hpp"

#include <fmt/format.h>
#include <map>

#include "agents/fleet/window_totals.hpp"

namespace brink {

AgentWindow agent_window(const fleet::AgentReport& answer, std::int64_t first, std::int64_t last) {
    AgentWindow window{.agent = answer.agent};
    if (!answer.report) {
        window.lost = true;
        return window;
    }
    const auto totals = fleet::totals_between(*answer.report, first, last);
    window.scheduled = static_cast<double>(totals.scheduled);
    window.acked = static_cast<double>(totals.acked);
    window.failed = static_cast<double>(totals.failed);
    window.throttled_s = totals.throttled_ms / 1'000;
    window.producer_s = static_cast<double>(answer.producers) * totals.seconds;
    window.throttled_answers = static_cast<double>(totals.throttled_answers);
    window.longest_throttle_ms = totals.longest_throttle_ms;
    window.answer_ms = totals.answer_ms;
    window.lost = totals.seconds < last - first;
    window.saturation = fleet::saturation_of(*answer.report, totals);
    for (const auto& error : answer.report->errors) window.error_codes.push_back(error.code);
    if (!answer.report->errors.empty()) {
        const auto& e = answer.report->errors.front();
        window.first_error = e.code + " (" + e.message + ")";
    }
    return window;
}

std::optional<std::string> contradiction_in(const fleet::AgentReport& answer) {
    if (!answer.report) return std::nullopt;
    for (const auto& s : answer.report->seconds) {
        if (s.acked + s.failed > s.sent) {
            return fmt::format("agent {} reports {} acknowledged and {} failed of {} sent in second {}",
                               answer.agent, s.acked, s.failed, s.sent, s.second);
        }
    }
    return std::nullopt;
}

std::vector<TimedValue> waits_between(const std::vector<fleet::AgentReport>& answers, std::int64_t first,
                                      std::int64_t last, double from_s) {
    std::map<std::int64_t, protocol::HistogramCounts> by_second;
    for (const auto& answer : answers) {
        if (!answer.report) continue;
        for (const auto& s : answer.report->seconds) {
            if (s.second >= first && s.second < last) fleet::merge(by_second[s.second], s.latency);
        }
    }
    std::vector<TimedValue> waits;
    for (const auto& [second, latency] : by_second) {
        if (const auto mean = fleet::mean_ms(latency))
            waits.push_back({from_s + static_cast<double>(second - first) + 0.5, *mean});
    }
    return waits;
}

}  // namespace brink

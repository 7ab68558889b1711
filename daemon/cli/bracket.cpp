#include "daemon/cli/bracket.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/cli/fields.hpp"
#include "daemon/cli/format.hpp"

namespace brink::cli {
namespace {

using nlohmann::json;

std::string end_of(const std::optional<std::int64_t>& producers) {
    return producers ? std::to_string(*producers) : "–";
}

/// The trial that was too much at the point's upper end, or null.
const json* upper_trial(const json& point, const json& trials) {
    const Bracket bracket = bracket_of(point, trials);
    const json* found = nullptr;
    for (const auto& trial : trials) {
        if (integer(trial, "point") != integer(point, "point") || text(trial, "purpose") == "calibration")
            continue;
        const std::string verdict = text(trial, "verdict");
        const bool over = verdict == "overloaded" && integer(trial, "producers") == bracket.upper;
        if (over || (!bracket.upper && verdict == "generator_limited")) found = &trial;
    }
    return found;
}

/// Of the two rules whose figures are shares.
std::string figure_text(const json& figure) {
    const std::string rule = text(figure, "rule");
    const auto value = number(figure, "value");
    const auto threshold = number(figure, "threshold");
    const auto broker = integer(figure, "broker_id");
    std::string line = broker && *broker >= 0 ? fmt::format("broker {} ", *broker) : std::string{};
    line += rule == "isr_churn" ? "ISR churn" : "IO idle";
    if (value) line += " " + format_share(*value);
    if (threshold) line += fmt::format(" ({}{})", rule == "isr_churn" ? ">" : "<", format_share(*threshold));
    return line;
}

}  // namespace

Bracket bracket_of(const json& point, const json& trials) {
    Bracket bracket{integer(point, "lower_producers"), integer(point, "upper_producers")};
    // A point that is done says itself what it does not know.
    if (text(point, "state") == "done") return bracket;
    Bracket seen;
    for (const auto& trial : trials) {
        const auto producers = integer(trial, "producers");
        if (!producers || integer(trial, "point") != integer(point, "point")) continue;
        if (text(trial, "purpose") == "calibration" || text(trial, "state") != "finished") continue;
        const std::string verdict = text(trial, "verdict");
        if (verdict == "sustained") seen.lower = std::max(seen.lower.value_or(*producers), *producers);
        if (verdict == "overloaded") seen.upper = std::min(seen.upper.value_or(*producers), *producers);
    }
    if (!bracket.lower) bracket.lower = seen.lower;
    if (!bracket.upper) bracket.upper = seen.upper;
    return bracket;
}

std::string producers_cell(const Bracket& bracket) {
    if (!bracket.lower && !bracket.upper) return {};
    // fmt pads by the width of the text, not by its bytes.
    return fmt::format("{:>4} / {}", end_of(bracket.lower), end_of(bracket.upper));
}

std::string limit_cell(const json& point) {
    const auto lower = number(point, "lower_msgs_per_s");
    const auto upper = number(point, "upper_msgs_per_s");
    const auto measured = number(point, "measured_msgs_per_s");
    if (!lower && !measured) return upper ? "below " + format_count(*upper) : "–";
    const double limit = measured ? *measured : *lower;
    if (!upper) return format_count(limit) + " [at least]";
    if (!lower) return format_count(limit);
    return fmt::format("{} [{}]", format_count(limit), format_range(*lower, *upper, limit));
}

std::string stopped_by(const json& point, const json& trials) {
    std::string rule = text(point, "limited_by");
    const json* trial = upper_trial(point, trials);
    if (trial != nullptr) {
        const json* fired = nullptr;
        for (const auto& figure : list(*trial, "figures")) {
            if (!boolean(figure, "fired")) continue;
            if (fired == nullptr || text(figure, "rule") == rule) fired = &figure;
        }
        // The other rules' figures have units of their own; their sentence says it.
        if (fired != nullptr && (text(*fired, "rule") == "io_idle" || text(*fired, "rule") == "isr_churn")) {
            return figure_text(*fired);
        }
        const json& reasons = list(*trial, "reasons");
        if (!reasons.empty() && reasons.front().is_string()) return reasons.front().get<std::string>();
    }
    if (rule == "io_idle") return "IO idle";
    if (rule == "isr_churn") return "ISR churn";
    if (rule == "quota") return "a broker's quota";
    if (rule == "delivery") return "deliveries";
    if (!rule.empty()) return rule;
    return text(point, "state_reason");
}

}  // namespace brink::cli

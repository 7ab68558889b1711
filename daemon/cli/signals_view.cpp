#include "daemon/cli/signals_view.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "daemon/cli/format.hpp"
#include "daemon/cli/table.hpp"

namespace brink::cli {
namespace {

using nlohmann::json;

/// The signals that every page is asked for; others are shown where they are.
constexpr std::array<const char*, 13> kAlways{
    "io_idle",  "isr_shrinks",        "isr_expands",    "under_replicated", "under_min_isr",
    "bytes_in", "messages_in",        "request_queue",  "network_idle",     "replication_bytes_in",
    "max_lag",  "offline_partitions", "process_start_s"};

bool has_isr(const Recognition& page) {
    return page.signals.contains("isr_shrinks") || page.signals.contains("isr_expands");
}

json figure(const Verdict& verdict, const std::string& rule) {
    const auto* f = verdict.figure(rule);
    if (!f) return nullptr;
    return {{"value", f->value},
            {"uncertainty", f->uncertainty},
            {"threshold", f->threshold},
            {"broker_id", f->broker_id < 0 ? json() : json(f->broker_id)},
            {"fired", f->fired}};
}

json io_idle(const SeriesVerdict& series) {
    auto known = figure(series.verdict, "io_idle");
    if (!known.is_null() || !series.verdict.worst_idle) return known;
    return {{"value", *series.verdict.worst_idle},
            {"uncertainty", 1.0},
            {"threshold", series.rules.io_idle_below},
            {"broker_id", nullptr},
            {"fired", false}};
}

}  // namespace

json signals_document(const std::string& source, const Recognition& page) {
    json signals = json::object();
    for (const char* name : kAlways) signals[name] = nullptr;
    for (const auto& [name, seen] : page.signals) {
        signals[name] = {{"series", seen.series}, {"kind", to_string(seen.kind)}, {"value", seen.value}};
    }
    json flags = json::array();
    if (!has_isr(page)) flags.push_back("no_isr_signal");
    return {{"source", source},
            {"judgeable", page.refused.empty()},
            {"reason", page.refused},
            {"profile", page.profile.empty() ? json() : json(page.profile)},
            {"exporter", page.exporter.empty() ? json() : json(page.exporter)},
            {"mode", to_string(page.mode)},
            {"notes", page.notes},
            {"flags", flags},
            {"signals", signals}};
}

std::vector<std::string> signals_lines(const std::string& source, const Recognition& page) {
    std::vector<std::string> lines;
    lines.push_back(source +
                    (page.refused.empty() ? "  can be judged" : "  CANNOT be judged: " + page.refused));
    if (!page.profile.empty()) lines.push_back("  profile " + page.profile + ": " + page.exporter);
    if (page.refused.empty())
        lines.push_back(std::string("  request handlers of ") +
                        (page.mode == PoolMode::combined ? "a broker that is a controller too"
                         : page.mode == PoolMode::broker ? "a broker alone"
                                                         : "a broker, perhaps a controller too"));
    for (const auto& note : page.notes) lines.push_back("  note: " + note);
    if (!has_isr(page) && page.refused.empty())
        lines.emplace_back("  note: no_isr_signal: ISR churn is seen in under-replicated partitions alone");
    Table table{{{"SIGNAL"}, {"VALUE", true}, {"KIND"}, {"SERIES"}}};
    for (const char* name : kAlways) {
        if (!page.signals.contains(name)) table.add({name, "–", "", "not found"});
    }
    for (const auto& [name, seen] : page.signals)
        table.add({name, fmt::format("{:.12g}", seen.value), to_string(seen.kind), seen.series});
    for (const auto& line : table.lines()) lines.push_back("  " + line);
    return lines;
}

json judge_document(const SeriesVerdict& series) {
    json windows = json::array();
    for (const auto& step : series.steps) {
        windows.push_back({{"broker_id", step.broker_id},
                           {"from_seq", step.from_seq},
                           {"to_seq", step.to_seq},
                           {"seconds", step.seconds},
                           {"io_idle", step.idle ? json(*step.idle) : json()},
                           {"isr_changed", step.isr_changed},
                           {"under_replicated", step.under_replicated}});
    }
    const auto& verdict = series.verdict;
    return {{"verdict", to_string(verdict.kind)},
            {"limited_by", verdict.limited_by.empty() ? json() : json(verdict.limited_by)},
            {"reasons", verdict.reasons},
            {"flags", verdict.flags},
            {"io_idle", io_idle(series)},
            {"isr_churn", figure(verdict, "isr_churn")},
            {"profiles", series.profiles},
            {"mode", to_string(series.mode)},
            {"windows", windows}};
}

std::vector<std::string> judge_lines(const SeriesVerdict& series) {
    const auto& verdict = series.verdict;
    std::vector<std::string> lines{std::string(to_string(verdict.kind))};
    for (const auto& reason : verdict.reasons) lines.push_back("  " + reason);
    for (const auto& f : verdict.figures) {
        lines.push_back(
            fmt::format("  {} {:.3f} ± {:.3f} (mark {:.2f})", f.rule, f.value, f.uncertainty, f.threshold));
    }
    std::string flags;
    for (const auto& flag : verdict.flags) flags += (flags.empty() ? "" : " ") + flag;
    if (!flags.empty()) lines.push_back("  flags " + flags);
    Table table{{{"BROKER", true}, {"FROM", true}, {"TO", true}, {"SECONDS", true}, {"IDLE", true}, {"ISR"}}};
    for (const auto& step : series.steps) {
        table.add({std::to_string(step.broker_id), std::to_string(step.from_seq), std::to_string(step.to_seq),
                   fmt::format("{:.2f}", step.seconds), step.idle ? fmt::format("{:.3f}", *step.idle) : "–",
                   step.isr_changed            ? "changed"
                   : step.under_replicated > 0 ? fmt::format("{:.0f} under-replicated", step.under_replicated)
                                               : "quiet"});
    }
    for (const auto& line : table.lines()) lines.push_back("  " + line);
    return lines;
}

}  // namespace brink::cli

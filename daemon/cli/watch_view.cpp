#include "daemon/cli/watch_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daemon/cli/bracket.hpp"
#include "daemon/cli/fields.hpp"
#include "daemon/cli/format.hpp"
#include "daemon/cli/sweep_lookup.hpp"
#include "daemon/cli/table.hpp"

namespace brink::cli {
namespace {

using nlohmann::json;

std::string upper(std::string text) {
    for (char& c : text) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return text;
}

std::string size_of(const json& object) {
    const auto bytes = integer(object, "message_bytes");
    return bytes ? format_size(*bytes) : "?";
}

std::string words(std::string phase) {
    std::replace(phase.begin(), phase.end(), '_', ' ');
    return phase;
}

std::int64_t count(const json& object, const char* key) { return integer(object, key).value_or(0); }

std::string idle_of(const json& object, const char* broker_key) {
    const auto idle = number(object, "worst_idle");
    if (!idle) return {};
    const auto broker = integer(object, broker_key);
    return (broker && *broker >= 0 ? fmt::format("broker {} ", *broker) : std::string{}) + "IO idle " +
           format_share(*idle);
}

std::string load_of(const json& object) {
    const auto producers = integer(object, "producers");
    const auto rate = number(object, "rate_each");
    if (!producers) return {};
    return rate ? fmt::format("{} × {}/s", *producers, format_count(*rate))
                : fmt::format("{} producers", *producers);
}

/// The broker with the least idle of a finished trial; −1 when its brokers are not known.
std::int64_t worst_broker(const json& trial) {
    std::optional<double> least;
    std::int64_t broker = -1;
    for (const auto& entry : list(trial, "brokers")) {
        const auto idle = number(entry, "idle");
        if (idle && (!least || *idle < *least)) {
            least = idle;
            broker = integer(entry, "broker_id").value_or(-1);
        }
    }
    return broker;
}

/// The cells after SIZE of a point that is not done.
std::vector<std::string> unfinished(const SweepSnapshot& snapshot, const json& point) {
    const std::string state = text(point, "state");
    if (state == "failed") return {"failed: " + text(point, "state_reason")};
    const bool ended = has_ended(text(snapshot.sweep, "state"));
    if (state != "running") return {ended ? "not measured" : "queued"};
    const Bracket bracket = bracket_of(point, snapshot.trials);
    std::string doing = ended ? "not finished" : "";
    const json& current = member(member(snapshot.sweep, "progress"), "current");
    if (!ended && integer(current, "point") == integer(point, "point")) {
        const auto producers = integer(current, "producers");
        const bool calibrating = text(current, "phase") == "calibrating";
        doing = calibrating ? "finding the rate"
                : producers ? fmt::format("testing {}", *producers)
                            : "preparing";
    }
    return {producers_cell(bracket), doing, "–", ""};
}

/// Keeps the heading and the rows around `centre`, where there are more than fit.
void fit_rows(std::vector<std::string>& table, std::size_t centre, std::size_t room) {
    if (table.size() <= room || room < 4) return;
    const std::size_t kept = room - 2;  // the heading and the remark
    const std::size_t first =
        std::clamp<std::size_t>(centre > kept / 2 ? centre - kept / 2 : 1, 1, table.size() - kept);
    std::vector<std::string> shown{table.front()};
    for (std::size_t i = first; i < first + kept; ++i) shown.push_back(table[i]);
    shown.push_back(fmt::format("… {} more sizes: brink show", table.size() - 1 - kept));
    table = std::move(shown);
}

}  // namespace

std::string header_line(const json& sweep) {
    const json& progress = member(sweep, "progress");
    const std::string state = text(sweep, "state");
    const auto finished = count(progress, "points_done") + count(progress, "points_failed");
    const auto total = count(progress, "points_total");
    std::string line = text(sweep, "id") + " " + upper(state);
    if (has_ended(state)) {
        line += fmt::format("  {} of {} sizes", count(progress, "points_done"), total);
    } else {
        line += fmt::format("  size {}/{}", std::min(finished + 1, std::max<std::int64_t>(total, 1)), total);
    }
    const auto elapsed = number(sweep, "elapsed_s");
    const auto left = number(sweep, "remaining_s");
    if (elapsed && left && !has_ended(state)) line += "  " + progress_bar(*elapsed, *left);
    if (elapsed) line += fmt::format("  {} elapsed", format_clock(*elapsed));
    if (left && !has_ended(state)) line += fmt::format(", about {} left", format_clock(*left));
    return line;
}

std::string progress_bar(double elapsed_s, double remaining_s) {
    constexpr int kCells = 20;
    const double total = elapsed_s + std::max(0.0, remaining_s);
    const double share = total > 0 ? elapsed_s / total : 0;
    const int full = std::clamp(static_cast<int>(std::floor(share * kCells)), 0, kCells);
    std::string bar;
    for (int i = 0; i < kCells; ++i) bar += i < full ? "█" : "░";
    return bar + fmt::format(" {:.0f} %", std::floor(share * 100));
}

std::vector<std::string> point_table(const SweepSnapshot& snapshot) {
    Table table{{{"SIZE", true}, {"PRODUCERS ok/over"}, {"LIMIT msg/s"}, {"MB/s", true}, {"STOPPED BY"}}};
    for (const auto& point : snapshot.points) {
        const std::string size = fmt::format("{:>7}", size_of(point));
        std::vector<std::string> cells{size};
        if (text(point, "state") == "done") {
            const auto megabytes = number(point, "measured_mb_per_s");
            cells.push_back(producers_cell(bracket_of(point, snapshot.trials)));
            cells.push_back(limit_cell(point));
            cells.push_back(megabytes ? format_count(*megabytes) : "–");
            cells.push_back(stopped_by(point, snapshot.trials));
        } else {
            for (auto& cell : unfinished(snapshot, point)) cells.push_back(std::move(cell));
        }
        table.add(std::move(cells));
    }
    return table.lines();
}

std::vector<std::string> current_lines(const SweepSnapshot& snapshot, const WatchNotes& notes) {
    const json& current = member(member(snapshot.sweep, "progress"), "current");
    if (!current.is_object() || has_ended(text(snapshot.sweep, "state"))) return {};
    std::string first;
    if (const auto trial = integer(current, "trial")) first = fmt::format("trial {}  ", *trial);
    first += size_of(current);
    if (const std::string load = load_of(current); !load.empty()) first += "  " + load;
    first += "  " + words(text(current, "phase"));
    if (const auto left = number(current, "phase_ends_in_s")) {
        first += fmt::format(", {} left", format_clock(std::ceil(*left)));
    }
    if (const std::string why = text(current, "why"); !why.empty()) first += "  (" + why + ")";

    std::string second = idle_of(current, "worst_broker");
    const auto append = [&second](const std::string& part) {
        second += (second.empty() ? "" : "   ") + part;
    };
    if (!second.empty() && notes.idle_history.size() > 1) second += " " + sparkline(notes.idle_history);
    if (const auto churn = number(current, "isr_churn")) append("ISR churn " + format_share(*churn));
    if (const auto acked = number(current, "acked_msgs_per_s"))
        append(format_count(*acked) + " msg/s acknowledged");
    if (const auto cpu = number(current, "agent_cpu"))
        append("busiest agent CPU " + format_share(std::round(*cpu * 100) / 100));
    std::vector<std::string> lines{first};
    if (!second.empty()) lines.push_back(second);
    return lines;
}

std::vector<std::string> watch_block(const SweepSnapshot& snapshot, const WatchNotes& notes,
                                     std::size_t columns, std::size_t rows) {
    std::vector<std::string> foot = current_lines(snapshot, notes);
    if (const std::string reason = text(snapshot.sweep, "state_reason"); !reason.empty())
        foot.push_back(reason);
    if (notes.data_up_to) foot.push_back("reconnecting, data up to " + *notes.data_up_to);

    std::vector<std::string> table = point_table(snapshot);
    const json& current = member(member(snapshot.sweep, "progress"), "current");
    const auto centre = static_cast<std::size_t>(std::max<std::int64_t>(0, count(current, "point")) + 1);
    const std::size_t others = foot.size() + 2;  // the header, and the line the cursor rests on
    fit_rows(table, centre, rows > others ? rows - others : 0);

    std::vector<std::string> block{header_line(snapshot.sweep)};
    block.insert(block.end(), table.begin(), table.end());
    block.insert(block.end(), foot.begin(), foot.end());
    for (std::string& line : block) line = cut_to_width(printable(line), columns);
    return block;
}

std::string trial_line(const json& trial) {
    std::string verdict = text(trial, "verdict");
    if (text(trial, "state") == "void") verdict = "void";
    std::string line = fmt::format("trial {}  {}  {}", count(trial, "trial"), size_of(trial), load_of(trial));
    if (text(trial, "purpose") == "calibration") line += "  calibration";
    if (!verdict.empty()) line += "  " + words(verdict);
    json with_broker = trial;
    with_broker["worst_broker"] = worst_broker(trial);
    if (const std::string idle = idle_of(with_broker, "worst_broker"); !idle.empty()) line += "  " + idle;
    if (const auto acked = number(trial, "acked_msgs_per_s"))
        line += fmt::format("  {} msg/s", format_count(*acked));
    const json& reasons = list(trial, "reasons");
    if (verdict != "sustained" && !reasons.empty() && reasons.front().is_string()) {
        line += "  (" + reasons.front().get<std::string>() + ")";
    }
    return line;
}

std::string point_line(const json& point, const json& trials) {
    if (text(point, "state") == "failed") return size_of(point) + ": failed: " + text(point, "state_reason");
    const Bracket bracket = bracket_of(point, trials);
    std::string line = fmt::format("{}: {} / {} producers ok/over, limit {} msg/s", size_of(point),
                                   bracket.lower ? std::to_string(*bracket.lower) : "–",
                                   bracket.upper ? std::to_string(*bracket.upper) : "–", limit_cell(point));
    if (const auto megabytes = number(point, "measured_mb_per_s")) {
        line += fmt::format(", {} MB/s", format_count(*megabytes));
    }
    if (const std::string why = stopped_by(point, trials); !why.empty()) line += ", stopped by " + why;
    return line;
}

std::string end_line(const json& sweep) {
    const json& progress = member(sweep, "progress");
    std::string line = text(sweep, "id") + " " + text(sweep, "state");
    if (const auto elapsed = number(sweep, "elapsed_s")) line += " after " + format_clock(*elapsed);
    line += fmt::format(", {} of {} sizes", count(progress, "points_done"), count(progress, "points_total"));
    if (const auto failed = count(progress, "points_failed"); failed > 0)
        line += fmt::format(", {} failed", failed);
    if (const std::string reason = text(sweep, "state_reason"); !reason.empty()) line += ": " + reason;
    return line;
}

std::string sparkline(const std::vector<double>& shares) {
    static const std::vector<std::string> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    std::string bars;
    for (std::size_t i = shares.size() > 8 ? shares.size() - 8 : 0; i < shares.size(); ++i) {
        bars += kBars[static_cast<std::size_t>(std::clamp(shares[i], 0.0, 1.0) * 7.999)];
    }
    return bars;
}

}  // namespace brink::cli

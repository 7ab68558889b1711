#include <fmt/format.h>

#include "daemon/cli/commands/commands.hpp"
#include "daemon/cli/csv.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/fields.hpp"
#include "daemon/cli/format.hpp"
#include "daemon/cli/sweep_lookup.hpp"
#include "daemon/cli/table.hpp"
#include "daemon/cli/watch_view.hpp"

namespace brink::cli {
namespace {

using nlohmann::json;

std::int64_t count(const json& object, const char* key) { return integer(object, key).value_or(0); }

void print_list(Output& output, const std::vector<json>& sweeps) {
    Table table{{{"ID"}, {"CLUSTER"}, {"NAME"}, {"STATE"}, {"SIZES", true}, {"STARTED"}, {"ELAPSED", true}}};
    for (const auto& sweep : sweeps) {
        const json& progress = member(sweep, "progress");
        const auto elapsed = number(sweep, "elapsed_s");
        table.add({text(sweep, "id"), text(sweep, "cluster"), text(sweep, "name"), text(sweep, "state"),
                   fmt::format("{}/{}", count(progress, "points_done"), count(progress, "points_total")),
                   text(sweep, "started_at"), elapsed ? format_clock(*elapsed) : "–"});
    }
    if (!table.empty()) output.lines(table.lines());
}

void print_csv(Output& output, const std::vector<json>& sweeps) {
    output.raw(
        "id,cluster,name,state,state_reason,points_done,points_failed,points_total,created_at,started_at,"
        "finished_at\r\n");
    for (const auto& sweep : sweeps) {
        const json& progress = member(sweep, "progress");
        output.raw(
            csv_row({text(sweep, "id"), text(sweep, "cluster"), text(sweep, "name"), text(sweep, "state"),
                     text(sweep, "state_reason"), std::to_string(count(progress, "points_done")),
                     std::to_string(count(progress, "points_failed")),
                     std::to_string(count(progress, "points_total")), text(sweep, "created_at"),
                     text(sweep, "started_at"), text(sweep, "finished_at")}));
    }
}

/// The first-crossing table of one point, in two sentences.
void print_crossings(Output& output, const json& point) {
    std::string crossed;
    std::string never;
    for (const auto& row : list(point, "first_crossings")) {
        const auto signal = text(row, "signal");
        const auto load = number(row, "msgs_per_s");
        const auto value = number(row, "value");
        if (!load || !value) {
            never += (never.empty() ? "" : ", ") + signal;
            continue;
        }
        crossed += fmt::format("{}{} at {}/s ({:.3g} {} {:.3g})", crossed.empty() ? "" : ", ", signal,
                               format_count(*load), *value, text(row, "side") == "above" ? ">" : "<",
                               number(row, "mark").value_or(0));
    }
    if (crossed.empty() && never.empty()) return;
    output.line(format_size(count(point, "message_bytes")) + " first crossings: " +
                (crossed.empty() ? "none" : crossed) + (never.empty() ? "" : "; not crossed: " + never));
}

void print_sweep(Output& output, const SweepSnapshot& snapshot, bool trials) {
    const json& sweep = snapshot.sweep;
    output.line(header_line(sweep));
    std::string about = "cluster " + text(sweep, "cluster");
    if (const std::string name = text(sweep, "name"); !name.empty()) about += ", name " + name;
    if (const std::string topic = text(sweep, "topic"); !topic.empty()) about += ", topic " + topic;
    output.line(about);
    if (const std::string reason = text(sweep, "state_reason"); !reason.empty()) output.line(reason);
    for (const auto& broker : list(sweep, "rest")) {
        for (const auto& warning : list(broker, "warnings")) {
            if (warning.is_string()) output.line("before the load: " + warning.get<std::string>());
        }
    }
    output.lines(point_table(snapshot));
    for (const auto& point : snapshot.points) {
        std::string flags;
        for (const auto& flag : list(point, "flags")) {
            if (flag.is_string()) flags += " " + flag.get<std::string>();
        }
        if (!flags.empty()) output.line(format_size(count(point, "message_bytes")) + " flags:" + flags);
        print_crossings(output, point);
    }
    if (!trials) return;
    for (const auto& trial : snapshot.trials) output.line(trial_line(trial));
}

}  // namespace

CommandResult run_list(Context& context, const SweepList& command) {
    const auto sweeps = fetch_sweeps(context.controller, command.limit);
    if (!sweeps) return tl::unexpected{sweeps.error()};
    switch (context.output.format()) {
        case Format::json:
            context.output.document({{"sweeps", *sweeps}});
            break;
        case Format::jsonl:
            for (const auto& sweep : *sweeps) context.output.document(sweep);
            break;
        case Format::csv:
            print_csv(context.output, *sweeps);
            break;
        case Format::text:
            print_list(context.output, *sweeps);
            break;
    }
    if (sweeps->empty()) {
        context.output.note("No sweeps yet. Next: brink sweep start --cluster NAME --sizes 100,1k,10k");
    } else {
        context.output.note("Next: brink show " + text(sweeps->front(), "id"));
    }
    return kExitOk;
}

CommandResult run_show(Context& context, const SweepShow& command) {
    const auto id = resolve_sweep(context.controller, command.id);
    if (!id) return tl::unexpected{id.error()};
    if (context.output.format() == Format::csv) return run_export(context, Export{*id});
    const auto snapshot = fetch_snapshot(context.controller, *id, true);
    if (!snapshot) return tl::unexpected{snapshot.error()};
    if (context.output.format() == Format::json) {
        json document{{"sweep", snapshot->sweep}, {"points", snapshot->points}};
        if (command.trials) document["trials"] = snapshot->trials;
        context.output.document(document);
    } else {
        print_sweep(context.output, *snapshot, command.trials);
    }
    const bool ended = has_ended(text(snapshot->sweep, "state"));
    context.output.note(ended ? "Next: brink export " + *id + " --csv -o curve.csv"
                              : "Next: brink watch " + *id);
    return kExitOk;
}

CommandResult run_cancel(Context& context, const SweepCancel& command) {
    const auto id = resolve_sweep(context.controller, command.id);
    if (!id) return tl::unexpected{id.error()};
    const auto sweep = context.controller.post("/sweeps/" + path_segment(*id) + ":cancel", nullptr, true);
    if (!sweep) return tl::unexpected{sweep.error()};
    if (context.output.format() == Format::json) {
        context.output.document(*sweep);
    } else {
        context.output.line(*id + " is " + text(*sweep, "state"));
    }
    context.output.note("Next: brink show " + *id);
    return kExitOk;
}

CommandResult run_delete(Context& context, const SweepDelete& command) {
    const auto id = resolve_sweep(context.controller, command.id);
    if (!id) return tl::unexpected{id.error()};
    if (!command.yes && !context.no_input && context.host.can_ask) {
        context.host.err(printable("Delete " + *id + " with all its results? [y/N] "));
        const std::string answer = context.host.read_line().value_or("");
        if (answer != "y" && answer != "Y" && answer != "yes") {
            return tl::unexpected{Error{ErrorCode::invalid_input, "nothing was deleted"}};
        }
    }
    const auto deleted = context.controller.remove("/sweeps/" + path_segment(*id));
    if (!deleted) return tl::unexpected{deleted.error()};
    context.output.line("deleted " + *id);
    context.output.note("Next: brink list");
    return kExitOk;
}

}  // namespace brink::cli

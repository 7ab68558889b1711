#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "agents/protocol/json.hpp"
#include "daemon/cli/commands/commands.hpp"
#include "daemon/cli/confirmation.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/fields.hpp"
#include "daemon/cli/format.hpp"
#include "daemon/cli/spec_from_flags.hpp"

namespace brink::cli {
namespace {

using nlohmann::json;

Error invalid(std::string message) { return Error{ErrorCode::invalid_input, std::move(message)}; }

JsonResult read_spec(const Host& host, const std::string& file) {
    std::string content;
    if (file == "-") {
        content = host.read_input();
    } else {
        std::ifstream stream{file, std::ios::binary};
        content.assign(std::istreambuf_iterator<char>{stream}, std::istreambuf_iterator<char>{});
        if (!stream.is_open() || stream.bad()) {
            return tl::unexpected{
                invalid(fmt::format("cannot read the spec {}; does the file exist?", file))};
        }
    }
    auto spec = protocol::parse_json(content);
    if (!spec) return tl::unexpected{spec.error().within(file == "-" ? "standard input" : file)};
    return spec;
}

/// Whether the cluster may be loaded: it is on this machine, or the user named it.
tl::expected<void, Error> confirm(const Context& context, const std::string& cluster,
                                  const std::optional<std::string>& confirmed) {
    if (confirmed) {
        if (*confirmed == cluster) return {};
        return tl::unexpected{invalid(fmt::format(
            "--confirm says \"{}\" but the sweep is for \"{}\"; nothing was started", *confirmed, cluster))};
    }
    const auto clusters = context.controller.get("/clusters");
    if (!clusters) return tl::unexpected{clusters.error()};
    const auto remote = remote_servers(*clusters, cluster);
    if (!remote) return {};
    const Error refused = invalid(fmt::format(
        "\"{0}\" is not on this machine ({1}) and a sweep overloads it; to go on add --confirm={0}", cluster,
        *remote));
    if (context.no_input || !context.host.can_ask) return tl::unexpected{refused};
    context.host.err(printable(fmt::format(
        "\"{}\" is not on this machine ({}) and a sweep overloads it. Type its name to go on: ", cluster,
        *remote)));
    const auto answer = context.host.read_line();
    if (!answer || *answer != cluster) return tl::unexpected{refused};
    return {};
}

std::string plan_line(const json& plan) {
    const auto points = integer(plan, "points");
    const auto expected = integer(plan, "trials_expected");
    const auto worst = integer(plan, "trials_worst");
    const auto minutes = number(plan, "minutes_expected");
    const auto minutes_worst = number(plan, "minutes_worst");
    std::string line = fmt::format("  plan   {} sizes", points.value_or(0));
    if (expected) line += fmt::format(", about {} trials", *expected);
    if (worst) line += fmt::format(" (at most {})", *worst);
    if (minutes) line += ": about " + format_estimate(*minutes);
    if (minutes_worst) line += ", at most " + format_estimate(*minutes_worst);
    return line;
}

/// The replication factor, also where the spec leaves it to the number of brokers.
std::optional<std::int64_t> replicas(const json& topic, const std::optional<std::int64_t>& brokers) {
    if (brokers && text(topic, "replication_factor") == "min(3, brokers)") {
        return std::min<std::int64_t>(3, *brokers);
    }
    return integer(topic, "replication_factor");
}

std::vector<std::string> plan_lines(const json& checked, const json& sweep) {
    const json& plan = member(checked, "plan");
    const json& topic = member(member(checked, "spec"), "topic");
    std::vector<std::string> lines{plan_line(plan)};
    std::string about;
    const auto brokers = integer(plan, "brokers");
    const auto each = integer(topic, "partitions_per_broker");
    if (brokers && each) about = fmt::format("{} partitions", *brokers * *each);
    if (const auto copies = replicas(topic, brokers)) about += fmt::format(", RF {}", *copies);
    const std::string name = text(sweep, "topic");
    if (!name.empty())
        about = fmt::format("{} ({}{}deleted afterwards)", name, about, about.empty() ? "" : "; ");
    if (!about.empty()) lines.push_back("  topic  " + about);
    const json& agents = list(plan, "agents");
    const auto ready = std::count_if(agents.begin(), agents.end(),
                                     [](const json& agent) { return text(agent, "state") == "ready"; });
    lines.push_back(fmt::format("  agents {} of {} ready", ready, agents.size()));
    for (const auto& warning : list(checked, "warnings")) {
        if (warning.is_string()) lines.push_back("  warning: " + warning.get<std::string>());
    }
    return lines;
}

CommandResult tell_plan(Context& context, const json& checked) {
    if (context.output.format() != Format::text) {
        context.output.document(checked);
    } else {
        context.output.line("Valid; nothing was started.");
        context.output.lines(plan_lines(checked, json::object()));
    }
    context.output.note("Next: the same command without --validate-only");
    return kExitOk;
}

}  // namespace

CommandResult run_start(Context& context, const SweepStart& command) {
    std::optional<json> file;
    if (command.file) {
        auto read = read_spec(context.host, *command.file);
        if (!read) return tl::unexpected{read.error()};
        file = std::move(*read);
    }
    const auto spec = spec_from_flags(file, command.flags);
    if (!spec) return tl::unexpected{spec.error()};
    const std::string cluster = text(*spec, "cluster");
    if (!command.validate_only) {
        if (auto allowed = confirm(context, cluster, command.confirm); !allowed) {
            return tl::unexpected{allowed.error()};
        }
    }
    const bool as_text = context.output.format() == Format::text;
    json checked;
    if (command.validate_only || as_text) {
        auto answer = context.controller.post("/sweeps?validate_only=true", *spec, true);
        if (!answer) return tl::unexpected{answer.error()};
        checked = std::move(*answer);
    }
    if (command.validate_only) return tell_plan(context, checked);

    const auto sweep = context.controller.post("/sweeps", *spec, false);
    if (!sweep) {
        Error error = sweep.error();
        const bool unsure = error.code == ErrorCode::cancelled || error.code == ErrorCode::timed_out;
        if (unsure) error.message += "; the sweep may have been started all the same: see brink list";
        return tl::unexpected{error};
    }
    const std::string id = text(*sweep, "id");
    if (as_text) {
        const auto brokers = integer(member(checked, "plan"), "brokers");
        context.output.line(fmt::format("Started {} on {}{}", id, cluster,
                                        brokers ? fmt::format(" ({} brokers)", *brokers) : std::string{}));
        context.output.lines(plan_lines(checked, *sweep));
    } else if (!command.watch) {
        context.output.document(*sweep);
    }
    if (command.watch) {
        context.output.note("Stop: brink sweep cancel " + id);
        return watch_sweep(context, id);
    }
    context.output.note("Next: brink watch " + id + "   Stop: brink sweep cancel " + id);
    return kExitOk;
}

}  // namespace brink::cli

#include "daemon/cli/agents_view.hpp"
#include "daemon/cli/check_view.hpp"
#include "daemon/cli/commands/commands.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/fields.hpp"

namespace brink::cli {

using nlohmann::json;

CommandResult run_agents(Context& context) {
    const auto answer = context.controller.get("/agents");
    if (!answer) return tl::unexpected{answer.error()};
    const json& agents = list(*answer, "agents");
    if (context.output.format() == Format::json) {
        context.output.document(*answer);
    } else if (context.output.format() == Format::jsonl) {
        for (const auto& agent : agents) context.output.document(agent);
    } else if (!agents.empty()) {
        context.output.lines(agent_lines(agents));
    }
    context.output.note(agents.empty()
                            ? "No agents: list them in the controller's configuration, and start brink-agent"
                            : "Next: brink check CLUSTER");
    return kExitOk;
}

CommandResult run_check(Context& context, const Check& command) {
    const auto report = context.controller.get("/clusters/" + path_segment(command.cluster) + "/check",
                                               ControllerClient::kThorough);
    if (!report) return tl::unexpected{report.error()};
    if (context.output.format() == Format::json) {
        context.output.document(*report);
    } else {
        context.output.lines(check_lines(*report));
    }
    if (!boolean(*report, "fit")) {
        context.output.note("Next: solve the problems, then brink check " + command.cluster + " again");
        return kExitInconclusive;
    }
    context.output.note("Next: brink sweep start --cluster " + command.cluster +
                        " --sizes 100,1k,10k --watch");
    return kExitOk;
}

}  // namespace brink::cli

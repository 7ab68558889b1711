#include "daemon/cli/run.hpp"

#include <exception>
#include <utility>

#include "agents/net/http_client.hpp"
#include "daemon/cli/commands/commands.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/options.hpp"

namespace brink::cli {
namespace {

/// Ends calls under way when the user interrupts, for as long as this lives.
class AbortOnInterrupt {
  public:
    AbortOnInterrupt(const Host& host, net::HttpClient& http) : host_{host} {
        host_.on_interrupt([&http] { http.abort(); });
    }
    ~AbortOnInterrupt() { host_.on_interrupt({}); }
    AbortOnInterrupt(const AbortOnInterrupt&) = delete;
    AbortOnInterrupt& operator=(const AbortOnInterrupt&) = delete;

  private:
    const Host& host_;
};

CommandResult dispatch(Context& context, const Command& command) {
    struct {
        Context& context;
        CommandResult operator()(const SweepStart& c) const { return run_start(context, c); }
        CommandResult operator()(const SweepList& c) const { return run_list(context, c); }
        CommandResult operator()(const SweepShow& c) const { return run_show(context, c); }
        CommandResult operator()(const SweepCancel& c) const { return run_cancel(context, c); }
        CommandResult operator()(const SweepDelete& c) const { return run_delete(context, c); }
        CommandResult operator()(const Watch& c) const { return run_watch(context, c); }
        CommandResult operator()(const Export& c) const { return run_export(context, c); }
        CommandResult operator()(const Plot& c) const { return run_plot(context, c); }
        CommandResult operator()(const Agents& /*unused*/) const { return run_agents(context); }
        CommandResult operator()(const Check& c) const { return run_check(context, c); }
        CommandResult operator()(const Backup& c) const { return run_backup(context, c); }
        CommandResult operator()(const Signals& c) const { return run_signals(context, c); }
        CommandResult operator()(const Judge& c) const { return run_judge(context, c); }
    } const dispatcher{context};
    return std::visit(dispatcher, command);
}

/// Needs no controller, and so none of the settings that lead to one.
bool is_offline(const Command& command) {
    return std::holds_alternative<Signals>(command) || std::holds_alternative<Judge>(command);
}

int run_command(const Invocation& invocation, const Host& host, Output& output) {
    auto settings = is_offline(invocation.command) ? tl::expected<Settings, Error>{Settings{}}
                                                   : resolve_settings(invocation.settings, host);
    if (!settings) {
        output.complain(settings.error());
        return exit_code_of(settings.error().code);
    }
    net::HttpClient http;
    const AbortOnInterrupt abort{host, http};
    const ControllerClient controller{std::move(*settings), http};
    Context context{host, output, controller, http, invocation.no_input};
    const CommandResult result = dispatch(context, invocation.command);
    output.finish();
    if (result) return *result;
    output.complain(result.error());
    return exit_code_of(result.error().code);
}

}  // namespace

int run(const std::vector<std::string>& arguments, const Host& host) {
    try {
        const auto invocation = parse_options(arguments);
        if (!invocation) {
            const Farewell& farewell = invocation.error();
            host.err(farewell.err);
            host.out(farewell.out);
            return farewell.exit_code;
        }
        Output output{host, invocation->format, invocation->output_file};
        return run_command(*invocation, host, output);
    } catch (const ClosedPipe&) {
        return kExitOk;
    } catch (const OutputFailed& failure) {
        host.err("brink: " + failure.error.message + "\n");
        return exit_code_of(failure.error.code);
    } catch (const std::exception& failure) {
        host.err(std::string{"brink: "} + failure.what() + "\n");
        return kExitUnreachable;
    }
}

}  // namespace brink::cli

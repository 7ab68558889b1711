#pragma once
#include <string>
#include <tl/expected.hpp>

#include "agents/net/http_client.hpp"
#include "daemon/cli/controller_client.hpp"
#include "daemon/cli/host.hpp"
#include "daemon/cli/options.hpp"
#include "daemon/cli/output.hpp"
#include "daemon/cli/watch_view.hpp"

/// What each command does. Data goes to `output`; a message on standard error ends by suggesting the next
/// command.
namespace brink::cli {

/// What a command works with.
struct Context {
    const Host& host;
    Output& output;
    const ControllerClient& controller;
    net::HttpClient& http;
    bool no_input = false;
};

/// The exit code, or the fault that decides it.
using CommandResult = tl::expected<int, Error>;

CommandResult run_start(Context& context, const SweepStart& command);
CommandResult run_list(Context& context, const SweepList& command);
CommandResult run_show(Context& context, const SweepShow& command);
CommandResult run_cancel(Context& context, const SweepCancel& command);
CommandResult run_delete(Context& context, const SweepDelete& command);
CommandResult run_watch(Context& context, const Watch& command);
CommandResult run_export(Context& context, const Export& command);
CommandResult run_plot(Context& context, const Plot& command);
CommandResult run_agents(Context& context);
CommandResult run_check(Context& context, const Check& command);
CommandResult run_backup(Context& context, const Backup& command);
CommandResult run_signals(Context& context, const Signals& command);
CommandResult run_judge(Context& context, const Judge& command);

/// Follows a sweep by its full id until it ends, the user interrupts, or the controller stays away for a
/// minute.
CommandResult watch_sweep(Context& context, const std::string& id);
/// The sweep, its points and, where asked for, its trials. The sweep is read first: once it has ended, the
/// rest is final too.
tl::expected<SweepSnapshot, Error> fetch_snapshot(const ControllerClient& controller, const std::string& id,
                                                  bool trials);

}  // namespace brink::cli

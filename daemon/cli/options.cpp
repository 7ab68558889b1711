#include "daemon/cli/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <sstream>

#include "brink_version.hpp"
#include "daemon/cli/exit_code.hpp"

namespace brink::cli {
namespace {

/// Puts a command's footer, which here holds its examples, before everything else.
class ExamplesFirst : public CLI::Formatter {
  public:
    std::string make_description(const CLI::App* app) const override {
        const std::string examples =
            app->get_footer().empty() ? "" : "Examples:\n" + app->get_footer() + "\n";
        return examples + Formatter::make_description(app);
    }
    std::string make_footer(const CLI::App* /*unused*/) const override { return {}; }
};

/// Everything the parser writes into; it lives as long as the parser.
struct Targets {
    SweepStart start{};
    SweepList list{};
    SweepShow show{};
    SweepCancel cancel{};
    SweepDelete remove{};
    Watch watch{};
    Export csv{};
    bool csv_flag = false;
    Plot plot{};
    Check check{};
    Backup backup{};
    Signals signals{};
    Judge judge{};
};

template <class T>
void on_use(CLI::App* command, Invocation& invocation, const T& value) {
    command->callback([&invocation, &value] { invocation.command = value; });
}

void add_start(CLI::App& parent, Targets& targets, Invocation& invocation) {
    SweepStart& start = targets.start;
    SpecFlags& flags = start.flags;
    auto* command = parent
                        .add_subcommand("start",
                                        "Finds the traffic a cluster can sustain, size by size. Flags take "
                                        "the place of what FILE says.")
                        ->footer(
                            "  brink sweep start --cluster local --sizes 100,1k,10k --watch\n"
                            "  brink sweep start spec.json --validate-only\n"
                            "  brink sweep start spec.json --name after-upgrade --confirm prod-eu\n");
    command->add_option("FILE", start.file, "a spec in JSON; - for standard input");
    command->add_option("--cluster", flags.cluster, "a cluster of the controller's configuration");
    command->add_option("--sizes", flags.sizes, "message sizes: 100,1k,10kB,1MB,1KiB");
    command->add_option("--name", flags.name, "what to call it");
    command->add_option("--max-producers,--producers", flags.max_producers, "ceiling: auto, or a count");
    command->add_option("--rate", flags.rate, "of each producer: auto, 500 (messages/s), 1MB (bytes/s)");
    command->add_option("--margin", flags.margin, "how close the ends must come: 0.05 or 5%");
    command->add_option("--strategy", flags.strategy,
                        "how loads are chosen: bisection, bisection_best_of_3 or guided");
    command->add_option("--warm-up", flags.warm_up, "of each trial: 60s");
    command->add_option("--measure", flags.measure, "of each trial: 120s");
    command->add_option("--sub-window", flags.sub_window, "for ISR churn: 5s");
    command->add_option("--scrape-interval", flags.scrape_interval, "between readings of a broker: 5s");
    command->add_option("--max-extensions", flags.max_extensions,
                        "how often a window in doubt goes on for six scrapes more: 2");
    command->add_option("--early-end", flags.early_end,
                        "whether a window ends once nothing is in doubt: yes, or no");
    command->add_option("--partitions-per-broker", flags.partitions_per_broker, "of the topic");
    command->add_option("--replication-factor", flags.replication_factor, "of the topic");
    command->add_option("--topic-config", flags.topic_config, "KEY=VALUE of the topic; repeatable")
        ->allow_extra_args(false);
    command->add_option("--client-profile", flags.client_profile, "kafka-defaults, published or librdkafka");
    command->add_option("-X", flags.client_properties, "KEY=VALUE of the producers' client; repeatable")
        ->allow_extra_args(false);
    command->add_flag("--validate-only", start.validate_only,
                      "check everything and print the plan; start nothing");
    command->add_flag("--watch", start.watch, "follow it to its end");
    command->add_option("--confirm", start.confirm, "the cluster's name, when it is not on this machine");
    on_use(command, invocation, start);
}

void add_list(CLI::App& parent, Targets& targets, Invocation& invocation) {
    auto* command = parent.add_subcommand("list", "Lists sweeps, newest first.")
                        ->footer(
                            "  brink list\n"
                            "  brink list --output csv -o sweeps.csv\n");
    command->add_option("--limit", targets.list.limit, "at most so many")->check(CLI::Range(1, 1'000'000));
    on_use(command, invocation, targets.list);
}

void add_show(CLI::App& parent, Targets& targets, Invocation& invocation) {
    auto* command = parent.add_subcommand("show", "Shows a sweep and its sizes.")
                        ->footer(
                            "  brink show 01JDQ4\n"
                            "  brink show 01JDQ4 --output json\n");
    command->add_option("ID", targets.show.id, "a sweep, or the beginning of its id")->required();
    command->add_flag("--trials", targets.show.trials, "with every trial");
    on_use(command, invocation, targets.show);
}

void add_cancel(CLI::App& parent, Targets& targets, Invocation& invocation) {
    auto* command =
        parent.add_subcommand("cancel", "Takes the load off and ends a sweep; what it found is kept.")
            ->footer("  brink cancel 01JDQ4\n");
    command->add_option("ID", targets.cancel.id, "a sweep, or the beginning of its id")->required();
    on_use(command, invocation, targets.cancel);
}

void add_delete(CLI::App& parent, Targets& targets, Invocation& invocation) {
    auto* command = parent.add_subcommand("delete", "Deletes a sweep that has ended, with its results.")
                        ->footer("  brink sweep delete 01JDQ4 --yes\n");
    command->add_option("ID", targets.remove.id, "a sweep, or the beginning of its id")->required();
    command->add_flag("--yes", targets.remove.yes, "do not ask");
    on_use(command, invocation, targets.remove);
}

void add_plot(CLI::App& app, Targets& targets, Invocation& invocation) {
    Plot& plot = targets.plot;
    auto* command =
        app.add_subcommand("plot", "Draws a sweep's curve: on the terminal, or as an SVG or PNG file.")
            ->footer(
                "  brink plot\n"
                "  brink plot 01JDQ4 --svg curve.svg --headroom 30%\n"
                "  brink plot --csv after.csv --compare before.csv --png curve.png\n");
    auto* id = command->add_option("ID", plot.id, "a sweep; default: the newest that has ended");
    command->add_option("--csv", plot.csv, "draw a file of brink export --csv; asks no controller")
        ->excludes(id);
    command->add_flag("--terminal", plot.terminal,
                      "draw with characters; the default without --svg and --png");
    command->add_option("--svg", plot.svg, "write an SVG file; - for standard output");
    command->add_option("--png", plot.png, "write a PNG file; - for standard output");
    command
        ->add_option("--headroom", plot.headroom,
                     "share of the boundary to keep free: 20% or 0.2; 0 for none")
        ->capture_default_str();
    command->add_option("--compare", plot.compare, "a second curve: a sweep, or a file that ends in .csv");
    command->add_option("--title", plot.title, "what to write above it");
    on_use(command, invocation, plot);
}

void add_others(CLI::App& app, Targets& targets, Invocation& invocation) {
    auto* watch = app.add_subcommand("watch", "Follows a sweep to its end; Ctrl-C only stops following.")
                      ->footer(
                          "  brink watch\n"
                          "  brink watch 01JDQ4 --output jsonl\n");
    watch->add_option("ID", targets.watch.id, "a sweep; default: the newest one running, else the newest");
    on_use(watch, invocation, targets.watch);

    auto* csv = app.add_subcommand("export", "Writes a sweep's curve, a row a size.")
                    ->footer("  brink export 01JDQ4 --csv -o curve.csv\n");
    csv->add_option("ID", targets.csv.id, "a sweep, or the beginning of its id")->required();
    csv->add_flag("--csv", targets.csv_flag, "as CSV, which is the only form");
    on_use(csv, invocation, targets.csv);

    add_plot(app, targets, invocation);

    auto* agents =
        app.add_subcommand("agents", "Shows the load agents and their state.")->footer("  brink agents\n");
    agents->callback([&invocation] { invocation.command = Agents{}; });

    auto* check =
        app.add_subcommand("check", "Can this cluster be judged? Exit code 0 when it can, 4 when not.")
            ->footer("  brink check local\n");
    check->add_option("CLUSTER", targets.check.cluster, "a cluster of the controller's configuration")
        ->required();
    on_use(check, invocation, targets.check);

    auto* backup =
        app.add_subcommand("backup", "Writes a consistent copy of the controller's SQLite database.")
            ->footer("  brink backup brink-2026-01-31.db\n");
    backup->add_option("FILE", targets.backup.file, "where to; - for standard output")->required();
    backup->add_flag("--force", targets.backup.force, "replace a file that exists");
    on_use(backup, invocation, targets.backup);
}

void add_offline(CLI::App& app, Targets& targets, Invocation& invocation) {
    auto* signals =
        app.add_subcommand("signals",
                           "Shows what brink understands in scrapes, and why it cannot judge by one. Asks "
                           "no controller. Exit code 0 when all can be judged, 4 when not.")
            ->footer(
                "  brink signals http://broker-1:7071/metrics\n"
                "  curl -s http://broker-1:7071/metrics | brink signals - --output json\n");
    signals
        ->add_option("SOURCE", targets.signals.sources, "files, http:// addresses, or - for standard input")
        ->required();
    signals->add_option("--profile", targets.signals.profiles, "a metrics profile of your own; repeatable")
        ->allow_extra_args(false);
    on_use(signals, invocation, targets.signals);

    Judge& judge = targets.judge;
    auto* command =
        app.add_subcommand("judge",
                           "Judges a saved series of scrapes: a folder with an index.csv of seq, "
                           "epoch_start, epoch_end, file and, for several brokers, broker. Exit code 0 "
                           "when sustained, 3 when overloaded, 4 when it cannot be judged.")
            ->footer("  brink judge scrapes/ --from 12 --to 30 --output json\n");
    command->add_option("FOLDER", judge.folder, "the saved series")->required();
    command->add_option("--from", judge.from, "first seq of the measuring window");
    command->add_option("--to", judge.to, "last seq of the measuring window");
    command->add_option("--profile", judge.profiles, "a metrics profile of your own; repeatable")
        ->allow_extra_args(false);
    command->add_option("--io-idle-below", judge.io_idle_below, "overloaded below this share")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    command
        ->add_option("--isr-churn-above", judge.isr_churn_above, "overloaded above this share of sub-windows")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    on_use(command, invocation, judge);
}

void add_globals(CLI::App& app, Invocation& invocation) {
    static const std::map<std::string, Format> kFormats{
        {"text", Format::text}, {"json", Format::json}, {"jsonl", Format::jsonl}, {"csv", Format::csv}};
    app.add_option("--controller", invocation.settings.controller,
                   "the controller's address [BRINK_CONTROLLER; http://127.0.0.1:8600]");
    app.add_option("--token-file", invocation.settings.token_file,
                   "file with the access token [BRINK_TOKEN_FILE]");
    app.add_option_function<std::string>(
           "--output", [&invocation](const std::string& name) { invocation.format = kFormats.at(name); },
           "text, json, jsonl or csv, where it makes sense")
        ->check(CLI::IsMember({"text", "json", "jsonl", "csv"}));
    app.add_option("-o", invocation.output_file, "write the data to this file; - for standard output");
    app.add_flag("--no-input", invocation.no_input, "never ask anything");
}

/// The formats a command has besides text.
std::vector<Format> formats_of(const Command& command) {
    struct {
        std::vector<Format> operator()(const SweepStart& /*unused*/) const {
            return {Format::json, Format::jsonl};
        }
        std::vector<Format> operator()(const SweepList& /*unused*/) const {
            return {Format::json, Format::jsonl, Format::csv};
        }
        std::vector<Format> operator()(const SweepShow& /*unused*/) const {
            return {Format::json, Format::csv};
        }
        std::vector<Format> operator()(const SweepCancel& /*unused*/) const { return {Format::json}; }
        std::vector<Format> operator()(const SweepDelete& /*unused*/) const { return {}; }
        std::vector<Format> operator()(const Watch& /*unused*/) const {
            return {Format::json, Format::jsonl};
        }
        std::vector<Format> operator()(const Export& /*unused*/) const { return {Format::csv}; }
        std::vector<Format> operator()(const Plot& /*unused*/) const { return {}; }
        std::vector<Format> operator()(const Agents& /*unused*/) const {
            return {Format::json, Format::jsonl};
        }
        std::vector<Format> operator()(const Check& /*unused*/) const { return {Format::json}; }
        std::vector<Format> operator()(const Backup& /*unused*/) const { return {}; }
        std::vector<Format> operator()(const Signals& /*unused*/) const { return {Format::json}; }
        std::vector<Format> operator()(const Judge& /*unused*/) const { return {Format::json}; }
    } const formats;
    return std::visit(formats, command);
}

Farewell usage_error(const std::string& message) {
    return Farewell{
        kExitUsage, {}, "brink: " + message + "\nSee brink --help, or --help after the command.\n"};
}

}  // namespace

tl::expected<Invocation, Farewell> parse_options(const std::vector<std::string>& arguments) {
    Invocation invocation;
    Targets targets;
    CLI::App app{"Finds the traffic a Kafka cluster can sustain.", "brink"};
    app.footer(
        "  brink check local\n"
        "  brink sweep start --cluster local --sizes 100,1k,10k --watch\n"
        "  brink export 01JDQ4 --csv -o curve.csv\n");
    app.formatter(std::make_shared<ExamplesFirst>());
    app.set_version_flag("--version", std::string{"brink "} + kVersion + " (" + kCommit + ")");
    app.fallthrough();
    app.require_subcommand(1);
    add_globals(app, invocation);
    auto* sweep = app.add_subcommand("sweep", "Start, list, show, cancel and delete sweeps.")
                      ->footer("  brink sweep start spec.json --watch\n  brink sweep list\n");
    sweep->require_subcommand(1);
    add_start(*sweep, targets, invocation);
    for (CLI::App* parent : {sweep, &app}) {
        add_list(*parent, targets, invocation);
        add_show(*parent, targets, invocation);
        add_cancel(*parent, targets, invocation);
    }
    add_delete(*sweep, targets, invocation);
    add_others(app, targets, invocation);
    add_offline(app, targets, invocation);

    std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()};  // as CLI11 wants them
    try {
        app.parse(std::move(reversed));
    } catch (const CLI::Success& wish) {
        std::ostringstream out;
        std::ostringstream err;
        app.exit(wish, out, err);
        return tl::unexpected{Farewell{kExitOk, out.str(), err.str()}};
    } catch (const CLI::ParseError& error) {
        return tl::unexpected{usage_error(error.what())};
    }
    const auto formats = formats_of(invocation.command);
    if (invocation.format != Format::text &&
        std::find(formats.begin(), formats.end(), invocation.format) == formats.end()) {
        return tl::unexpected{usage_error("this command does not have that --output")};
    }
    return invocation;
}

}  // namespace brink::cli

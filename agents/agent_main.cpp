#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "agents/net/http_server.hpp"
#include "agents/net/router.hpp"
#include "agents/worker/agent_api.hpp"
#include "agents/worker/host_limits.hpp"
#include "agents/worker/task_table.hpp"
#include "brink_version.hpp"
#include "config/agent_config.hpp"

/// `brink-agent`: puts the traffic on a cluster that a controller asks for, and takes it off by itself when
/// the controller is gone.
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitConfiguration = 78;
/// A client whose broker is gone may take long to close; by then nothing is on the wire any more.
constexpr std::chrono::milliseconds kExitWithin{2'500};

struct Flags {
    std::string config_file;
    std::string listen;
    std::string token_file;
    std::string agent_id;
    std::string log_level;
    bool check_config = false;
};

tl::expected<brink::AgentConfig, brink::Error> load_config(const Flags& flags) {
    brink::AgentConfig config;
    if (!flags.config_file.empty()) {
        std::ifstream file(flags.config_file);
        std::ostringstream text;
        if (!file || !(text << file.rdbuf()))
            return tl::unexpected(
                brink::Error{brink::ErrorCode::configuration,
                             "cannot read the configuration file '" + flags.config_file + "'"});
        auto parsed = brink::parse_agent_config(text.str(), flags.config_file);
        if (!parsed) return parsed;
        config = std::move(*parsed);
    }
    if (!flags.listen.empty()) config.listen = flags.listen;
    if (!flags.agent_id.empty()) config.agent_id = flags.agent_id;
    if (!flags.log_level.empty()) config.log_level = flags.log_level;
    if (!flags.token_file.empty()) {
        auto token = brink::read_secret_file(flags.token_file);
        if (!token) return tl::unexpected(token.error());
        config.token = std::move(*token);
    }
    if (auto checked = brink::check_agent_config(config); !checked) return tl::unexpected(checked.error());
    return config;
}

/// hostname:port, or hostname:pid where the system picks the port.
std::string default_agent_id(const std::string& listen) {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0) return "agent " + listen;
    const auto port = listen.substr(listen.rfind(':') + 1);
    return std::string(name.data()) + ":" + (port == "0" ? "pid" + std::to_string(getpid()) : port);
}

void set_up_log(const std::string& level) {
    auto log = spdlog::stderr_logger_mt("brink-agent");
    log->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ level=%l %v", spdlog::pattern_time_type::utc);
    log->set_level(spdlog::level::from_str(level));
    log->flush_on(spdlog::level::info);
    spdlog::set_default_logger(std::move(log));
}

sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

int serve(brink::AgentConfig config) {
    // Blocked before any thread is made, so that only this one takes them.
    const auto signals = ending_signals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    brink::worker::raise_descriptor_limit();

    if (config.agent_id.empty()) config.agent_id = default_agent_id(config.listen);
    brink::worker::TaskTable table(
        brink::worker::AgentRules{config.agent_id, config.max_producers, config.allowed_bootstrap_servers});
    brink::net::Router router;
    brink::worker::add_agent_routes(router, table);
    if (!config.token.empty()) router.require_token(config.token, {"/healthz"});

    brink::net::ServerLimits limits;
    limits.handler_threads = 2 + brink::worker::TaskTable::kMostPreparing + 2;
    auto server = brink::net::HttpServer::listen(
        config.listen, [&router](const brink::net::HttpRequest& request) { return router(request); }, limits);
    if (!server) {
        spdlog::error("event=cannot_listen reason=\"{}\"", server.error().message);
        return kExitConfiguration;
    }
    spdlog::info("event=started message=\"listening on {}\" address={} agent={} version={} token={}",
                 (*server)->address(), (*server)->address(), config.agent_id, brink::kVersion,
                 config.token.empty() ? "none" : "required");

    int signal = 0;
    sigwait(&signals, &signal);
    spdlog::info("event=stopping signal={}", signal);
    std::thread([] {
        std::this_thread::sleep_for(kExitWithin);
        std::_Exit(EXIT_SUCCESS);
    }).detach();
    table.shut_down();
    (*server)->stop(std::chrono::milliseconds{500});
    spdlog::info("event=stopped");
    return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
    Flags flags;
    CLI::App app{"brink-agent: puts load on a Kafka cluster for a brink controller"};
    app.add_option("--listen", flags.listen, "Address to listen on, host:port (default 127.0.0.1:8700)");
    app.add_option("--config", flags.config_file, "Configuration file (TOML); flags override it");
    app.add_option("--token-file", flags.token_file,
                   "File with the token that callers must carry (mode 0600)");
    app.add_option("--agent-id", flags.agent_id, "Name of this agent (default hostname:port)");
    app.add_option("--log-level", flags.log_level, "trace, debug, info, warn, error or off")
        ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
    app.add_flag("--check-config", flags.check_config, "Check the configuration and exit");
    app.set_version_flag("--version",
                         std::string("brink-agent ") + brink::kVersion + " (" + brink::kCommit + ")");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& fault) {
        return app.exit(fault) == 0 ? EXIT_SUCCESS : kExitUsage;
    }
    try {
        auto config = load_config(flags);
        set_up_log(config ? config->log_level : "info");
        if (!config) {
            spdlog::error("event=bad_configuration reason=\"{}\"", config.error().message);
            return kExitConfiguration;
        }
        if (flags.check_config) {
            spdlog::info("event=configuration_ok listen={}", config->listen);
            return EXIT_SUCCESS;
        }
        return serve(std::move(*config));
    } catch (const std::exception& fault) {
        std::fprintf(stderr, "brink-agent: %s\n", fault.what());
        return EXIT_FAILURE;
    }
}

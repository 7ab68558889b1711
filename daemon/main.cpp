#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>

#include "brink_version.hpp"
#include "daemon/app.hpp"

namespace {

constexpr int kUsage = 2;
constexpr int kConfiguration = 78;

int refuse(const brink::Error& error) {
    std::fprintf(stderr, "brinkd: %s\n", error.message.c_str());
    return kConfiguration;
}

int run(int argc, char** argv) {
    CLI::App app{"brinkd: the controller of brink, which finds the traffic a Kafka cluster can sustain"};
    std::string file = "brink.toml";
    bool check_only = false;
    std::string listen;
    app.add_option("--config", file, "configuration file (TOML)")->capture_default_str();
    app.add_option("--listen", listen, "address to listen on, instead of the one in the file");
    app.add_flag("--check-config", check_only, "check the configuration and end");
    app.set_version_flag("--version", std::string("brinkd ") + brink::kVersion + " (" + brink::kCommit + ")");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : kUsage;
    }
    std::ifstream in(file);
    if (!in) {
        return refuse({brink::ErrorCode::configuration,
                       "cannot read the configuration file '" + file + "': name it with --config",
                       {}});
    }
    std::ostringstream text;
    text << in.rdbuf();
    auto config = brink::parse_controller_config(text.str(), file);
    if (!config) return refuse(config.error());
    if (!listen.empty()) config->listen = listen;
    if (auto checked = brink::check_listen_address(*config); !checked) return refuse(checked.error());
    if (check_only) {
        std::printf("%s: fine (%zu clusters, %zu agents)\n", file.c_str(), config->clusters.size(),
                    config->agents.size());
        return 0;
    }
    spdlog::set_level(spdlog::level::from_str(config->log_level));
    spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%eZ level=%l %v", spdlog::pattern_time_type::utc);
    if (auto ran = brink::run_controller(*config); !ran) return refuse(ran.error());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "brinkd: %s\n", e.what());
        return 70;
    }
}

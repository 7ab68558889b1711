#include <pthread.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/net/http_server.hpp"
#include "agents/net/router.hpp"
#include "brink_version.hpp"
#include "deploy/sim/broker_metrics.hpp"
#include "deploy/sim/control_api.hpp"
#include "deploy/sim/embedded_cluster.hpp"

/// `brink-sim`: an embedded Kafka cluster whose true limits are known.
namespace {

using namespace brink;

constexpr int kExitUsage = 2;
constexpr int kExitConfiguration = 78;
/// A silent endpoint keeps a scrape waiting as a hung exporter does; scrapers give up first.
constexpr double kSilence_s = 30;

struct Flags {
    std::string listen = "127.0.0.1:8800";
    int brokers = 3;
    sim::CapacityModel model{};
};

net::HttpResponse scrape(sim::EmbeddedCluster& cluster, int broker, const net::HttpRequest& request) {
    if (request.path != "/metrics" && request.path != "/")
        return net::problem(404, "metrics are at /metrics", request);
    const auto counters = cluster.counters(broker, kSilence_s);
    if (!counters) return net::problem(503, "this broker is silent", request);
    return {200, "text/plain; version=0.0.4; charset=utf-8", sim::exposition(*counters), {}, {}};
}

int serve(const Flags& flags) {
    const auto& costs = flags.model;
    if (costs.us_per_request + costs.us_per_message + costs.us_per_byte <= 0) {
        std::fprintf(stderr,
                     "brink-sim: all costs are 0, so there is no limit to find: set --us-per-message\n");
        return kExitUsage;
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    (void)std::signal(SIGPIPE, SIG_IGN);

    auto cluster = sim::EmbeddedCluster::start(flags.model, flags.brokers);
    if (!cluster) {
        std::fprintf(stderr, "brink-sim: %s\n", cluster.error().message.c_str());
        return EXIT_FAILURE;
    }
    const auto host = flags.listen.substr(0, flags.listen.rfind(':'));
    std::map<int, std::string> metrics_urls;
    std::vector<std::unique_ptr<net::HttpServer>> endpoints;
    net::ServerLimits few;
    few.handler_threads = 2;
    for (const auto& broker : (*cluster)->brokers()) {
        auto endpoint = net::HttpServer::listen(
            host + ":0",
            [&sim = **cluster, id = broker.id](const net::HttpRequest& request) {
                return scrape(sim, id, request);
            },
            few);
        if (!endpoint) {
            std::fprintf(stderr, "brink-sim: %s\n", endpoint.error().message.c_str());
            return kExitConfiguration;
        }
        metrics_urls[broker.id] = "http://" + (*endpoint)->address() + "/metrics";
        endpoints.push_back(std::move(*endpoint));
    }
    net::Router router;
    sim::add_control_routes(router, **cluster, metrics_urls);
    auto control = net::HttpServer::listen(
        flags.listen, [&router](const net::HttpRequest& request) { return router(request); }, few);
    if (!control) {
        std::fprintf(stderr, "brink-sim: %s\n", control.error().message.c_str());
        return kExitConfiguration;
    }
    std::printf("control: http://%s\nbootstrap: %s\n", (*control)->address().c_str(),
                (*cluster)->bootstrap_servers().c_str());
    for (const auto& [id, url] : metrics_urls) std::printf("metrics: %d %s\n", id, url.c_str());
    std::fflush(stdout);

    int signal = 0;
    sigwait(&signals, &signal);
    (*cluster)->clear_faults();
    (*control)->stop();
    for (auto& endpoint : endpoints) endpoint->stop();
    return EXIT_SUCCESS;
}

void add_options(CLI::App& app, Flags& flags) {
    auto& model = flags.model;
    app.add_option("--listen", flags.listen,
                   "Address of the control interface, IP:PORT; port 0 takes a free one")
        ->capture_default_str();
    app.add_option("--brokers", flags.brokers, "How many brokers")
        ->check(CLI::Range(1, 30))
        ->capture_default_str();
    app.add_option("--io-threads", model.io_threads, "IO threads of each broker")
        ->check(CLI::Range(1, 1'000))
        ->capture_default_str();
    app.add_option("--us-per-request", model.us_per_request,
                   "Microseconds of an IO thread for a produce request")
        ->check(CLI::Range(0.0, 1e9))
        ->capture_default_str();
    app.add_option("--us-per-message", model.us_per_message, "… for a message")
        ->check(CLI::Range(0.0, 1e9))
        ->capture_default_str();
    app.add_option("--us-per-byte", model.us_per_byte, "… for a byte of the log")
        ->check(CLI::Range(0.0, 1e9))
        ->capture_default_str();
    app.add_option("--noise", model.noise, "Relative standard deviation of the costs, drawn anew each second")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--seed", model.seed, "Seed of the noise")->capture_default_str();
    app.add_option("--churn-above-busy", model.churn_above_busy,
                   "Followers fall behind above this busy share; 0: never")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--churn-lag-s", model.churn_lag_s, "Seconds until they leave the in-sync replicas")
        ->check(CLI::Range(0.0, 600.0))
        ->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
    Flags flags;
    CLI::App app{"brink-sim: an embedded Kafka cluster whose true limits are known"};
    app.set_version_flag("--version", std::string("brink-sim ") + kVersion + " (" + kCommit + ")");
    add_options(app, flags);
    try {
        app.parse(argc, argv);
        return serve(flags);
    } catch (const CLI::ParseError& fault) {
        return app.exit(fault) == 0 ? EXIT_SUCCESS : kExitUsage;
    } catch (const std::exception& fault) {
        std::fprintf(stderr, "brink-sim: %s\n", fault.what());
        return EXIT_FAILURE;
    }
}

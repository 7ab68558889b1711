#include "daemon/app.hpp"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "agents/net/http_client.hpp"
#include "agents/net/http_server.hpp"
#include "daemon/api/own_metrics.hpp"
#include "daemon/api/routes.hpp"
#include "daemon/cluster/connect.hpp"
#include "daemon/sweep/recovery.hpp"
#include "daemon/sweep/sweep_service.hpp"
#include "storage/sweep_store.hpp"

namespace brink {
namespace {

/// Signals are taken by one thread that waits for them; every other thread has them blocked.
sigset_t block_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    (void)std::signal(SIGPIPE, SIG_IGN);
    return signals;
}

/// Nothing for a cluster that is no longer configured or whose client cannot be made.
std::unique_ptr<Cluster> connect_to(const ControllerConfig& config, const std::string& name,
                                    net::HttpClient& http) {
    const auto* cluster = config.cluster(name);
    if (!cluster) return nullptr;
    auto made = connect(*cluster, http);
    return made ? std::move(*made) : nullptr;
}

}  // namespace

tl::expected<void, Error> run_controller(const ControllerConfig& config) {
    const auto signals = block_signals();
    auto store = storage::SweepStore::open(config.database);
    if (!store) return tl::unexpected(store.error());
    SystemClock clock;
    const auto epoch = (*store)->next_epoch();
    if (!epoch) return tl::unexpected(epoch.error());
    const auto orphans = end_orphans(**store, clock);
    if (!orphans) return tl::unexpected(orphans.error());

    api::OwnMetrics metrics;
    net::HttpClient http;
    SweepService sweeps(config, http, **store, clock, *epoch,
                        [&](const storage::TrialRow& trial) { metrics.trial_finished(trial); });
    const auto scratch = std::filesystem::absolute(config.database).parent_path();
    auto router = api::make_router({sweeps, **store, metrics, clock, scratch});
    if (!config.token.empty()) router.require_token(config.token, api::open_paths());
    auto server = net::HttpServer::listen(config.listen, [&](const net::HttpRequest& request) {
        auto response = router(request);
        metrics.request_answered(response.status);
        return response;
    });
    if (!server) return tl::unexpected(server.error());
    // A cluster that cannot be reached must not hold up the start.
    std::jthread cleaner([&] {
        delete_orphaned_topics(*orphans,
                               [&](const std::string& name) { return connect_to(config, name, http); });
    });
    spdlog::info("event=listening address={} epoch={} database={}", (*server)->address(), *epoch,
                 config.database);

    int signal = 0;
    sigwait(&signals, &signal);
    spdlog::info("event=stopping signal={}", signal);
    sweeps.shut_down();
    (*server)->stop();
    return {};
}

}  // namespace brink

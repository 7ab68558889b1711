#include "daemon/sweep/sweep_service.hpp"

#include <spdlog/spdlog.h>

#include <fmt/format.h>
#include <algorithm>
#include <exception>

#include "agents/fleet/http_fleet.hpp"
#include "daemon/cluster/connect.hpp"
#include "daemon/metrics/metrics_of.hpp"
#include "daemon/sweep/sweep_id.hpp"
#include "daemon/sweep/sweep_runner.hpp"

namespace brink {
namespace {

Error error(ErrorCode code, std::string message) { return Error{code, std::move(message), {}}; }

}  // namespace

/// A sweep under way with everything that it alone uses, in the order in which it must be destroyed last to
/// first.
struct SweepService::Running {
    std::string id;
    std::string cluster_name;
    std::unique_ptr<Cluster> cluster;
    std::unique_ptr<MetricsSource> metrics;
    std::unique_ptr<fleet::HttpFleet> fleet;
    ProgressBoard board;
    std::unique_ptr<SweepRunner> runner;
    std::atomic<bool> ended{false};
    std::jthread thread;
};

std::vector<fleet::AgentAddress> agent_addresses(const ControllerConfig& config) {
    std::vector<fleet::AgentAddress> addresses;
    addresses.reserve(config.agents.size());
    for (const auto& a : config.agents) addresses.push_back({.name = a.name, .url = a.url, .token = a.token});
    return addresses;
}

SweepService::SweepService(const ControllerConfig& config, net::HttpClient& http, storage::SweepStore& store,
                           Clock& clock, std::int64_t epoch,
                           std::function<void(const storage::TrialRow&)> on_trial)
    : config_(config),
      http_(http),
      store_(store),
      clock_(clock),
      epoch_(epoch),
      on_trial_(std::move(on_trial)) {}

SweepService::~SweepService() { shut_down(); }

void SweepService::shut_down() {
    shutting_down_ = true;
    std::unique_ptr<Running> last;
    {
        std::lock_guard lock(mutex_);
        last = std::move(running_);
    }
    // Its destruction asks the thread to stop and waits for it, without the lock that the API may want.
}

std::vector<fleet::AgentStatus> SweepService::agents() {
    return fleet::ask_status(http_, agent_addresses(config_));
}

tl::expected<const ClusterConfig*, Error> SweepService::configured(const std::string& cluster) const {
    if (const auto* found = config_.cluster(cluster)) return found;
    std::string known;
    for (const auto& c : config_.clusters) known += (known.empty() ? "" : ", ") + c.name;
    return tl::unexpected(
        error(ErrorCode::not_found,
              fmt::format("no cluster '{}' is configured (known: {}): add it as [[clusters]] to the "
                          "controller's configuration",
                          cluster, known.empty() ? "none" : known)));
}

tl::expected<Preflight, Error> SweepService::look(const std::string& name) {
    const auto cluster = configured(name);
    if (!cluster) return tl::unexpected(cluster.error());
    auto kafka = connect(**cluster, http_);
    if (!kafka) return tl::unexpected(kafka.error());
    const auto metrics = metrics_of(**cluster, http_, config_.metrics_profiles);
    return look_at(**cluster, **kafka, *metrics, agents());
}

tl::expected<Preflight, Error> SweepService::validate(const SweepSpec& spec) {
    const auto cluster = configured(spec.cluster);
    if (!cluster) {
        auto refused = error(ErrorCode::invalid_input, cluster.error().message);
        refused.details.push_back({"/cluster", cluster.error().message});
        return tl::unexpected(refused);
    }
    if (spec.producers_max.value_or(0) > config_.max_producers) {
        auto refused = error(
            ErrorCode::invalid_input,
            fmt::format("producers.max is {}, this controller allows {} (max_producers in its configuration)",
                        *spec.producers_max, config_.max_producers));
        refused.details.push_back({"/producers/max", refused.message});
        return tl::unexpected(refused);
    }
    auto seen = look(spec.cluster);
    if (!seen) return seen;
    if (auto fits = check_fits(spec, *seen); !fits) return tl::unexpected(fits.error());
    return seen;
}

std::optional<SweepService::Holder> SweepService::holder() {
    std::lock_guard lock(mutex_);
    if (!running_ || running_->ended) return std::nullopt;
    return Holder{running_->id, running_->cluster_name};
}

tl::expected<void, Error> SweepService::claim(const std::string& cluster) {
    if (shutting_down_) return tl::unexpected(error(ErrorCode::unavailable, "the controller is stopping"));
    if (const auto busy = holder()) {
        const auto what =
            busy->cluster == cluster ? "cluster '" + cluster + "' is" : std::string("the agents are");
        return tl::unexpected(
            error(ErrorCode::conflict,
                  fmt::format("{} in use by sweep {} on cluster '{}': wait for it or cancel it", what,
                              busy->id, busy->cluster)));
    }
    std::lock_guard lock(mutex_);
    if (!claimed_by_.empty()) {
        return tl::unexpected(
            error(ErrorCode::conflict, "another sweep is being started on cluster '" + claimed_by_ + "'"));
    }
    claimed_by_ = cluster;
    return {};
}

void SweepService::let_go() {
    std::lock_guard lock(mutex_);
    claimed_by_.clear();
}

tl::expected<storage::SweepRow, Error> SweepService::start(const SweepSpec& spec) {
    if (auto claimed = claim(spec.cluster); !claimed) return tl::unexpected(claimed.error());
    auto started = launch(spec);
    let_go();
    return started;
}

tl::expected<storage::SweepRow, Error> SweepService::launch(const SweepSpec& spec) {
    auto seen = validate(spec);
    if (!seen) return tl::unexpected(seen.error());
    const auto found = configured(spec.cluster);
    if (!found) return tl::unexpected(found.error());
    const auto& cluster = **found;
    auto kafka = connect(cluster, http_);
    if (!kafka) return tl::unexpected(kafka.error());

    storage::SweepRow sweep{.id = new_sweep_id(clock_.unix_ms()), .cluster = spec.cluster, .name = spec.name};
    sweep.spec_json = to_json(spec).dump();
    sweep.topic = config_.topic_prefix + sweep.id;
    sweep.epoch = epoch_;
    sweep.created_at_ms = clock_.unix_ms();
    std::vector<storage::PointRow> points;
    points.reserve(spec.message_bytes.size());
    for (const auto size : spec.message_bytes) {
        points.push_back(
            {.sweep_id = sweep.id, .point = static_cast<int>(points.size()), .message_bytes = size});
    }
    if (auto stored = store_.create_sweep(sweep, points); !stored) return tl::unexpected(stored.error());

    SweepLimits limits;
    limits.topic_prefix = config_.topic_prefix;
    limits.max_producers = config_.max_producers;
    limits.foreign_bytes_per_s_above = config_.foreign_mb_per_s_above * 1e6;
    limits.guards = cluster.guards;
    limits.scrape_timeout = cluster.scrape_timeout;
    limits.client = cluster.client;
    limits.bootstrap_servers = cluster.bootstrap_servers;

    auto running = std::make_unique<Running>();
    running->id = sweep.id;
    running->cluster_name = spec.cluster;
    running->cluster = std::move(*kafka);
    running->metrics = metrics_of(cluster, http_, config_.metrics_profiles);
    running->fleet =
        std::make_unique<fleet::HttpFleet>(http_, agent_addresses(config_), epoch_, config_.lease);
    running->runner =
        std::make_unique<SweepRunner>(SweepTools{*running->cluster, *running->metrics, *running->fleet,
                                                 clock_, store_, running->board, shutting_down_, on_trial_},
                                      limits, spec, std::move(*seen), sweep, points);
    auto* state = running.get();
    running->thread = std::jthread([state](const std::stop_token& stop) {
        // Exceptions stop at the thread's entry: the load must go off, and the process must go on.
        try {
            state->runner->run(stop);
        } catch (const std::exception& e) {
            spdlog::critical("event=sweep_thread_failed sweep={} error=\"{}\"", state->id, e.what());
            state->fleet->remove();
        }
        state->ended = true;
    });
    std::unique_ptr<Running> previous;
    {
        std::lock_guard lock(mutex_);
        previous = std::exchange(running_, std::move(running));
    }
    spdlog::info("event=sweep_started sweep={} cluster={} points={}", sweep.id, sweep.cluster, points.size());
    return sweep;
}

tl::expected<storage::SweepRow, Error> SweepService::cancel(const std::string& id) {
    auto row = store_.sweep(id);
    if (!row) return tl::unexpected(row.error());
    if (!*row) return tl::unexpected(error(ErrorCode::not_found, "there is no sweep " + id));
    std::lock_guard lock(mutex_);
    if (running_ && running_->id == id && !running_->ended) {
        running_->thread.request_stop();
        (*row)->state = "stopping";
    }
    return **row;
}

std::optional<Progress> SweepService::progress(const std::string& id) {
    std::lock_guard lock(mutex_);
    if (!running_ || running_->id != id || running_->ended) return std::nullopt;
    return running_->board.read();
}

}  // namespace brink

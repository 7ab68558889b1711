#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "agents/fleet/fleet.hpp"
#include "agents/net/http_client.hpp"
#include "config/controller_config.hpp"
#include "config/sweep_spec.hpp"
#include "daemon/cluster/cluster.hpp"
#include "daemon/sweep/clock.hpp"
#include "daemon/sweep/plan.hpp"
#include "daemon/sweep/preflight.hpp"
#include "daemon/sweep/progress.hpp"
#include "storage/sweep_store.hpp"

namespace brink {

/// Starts, watches and cancels sweeps. One sweep runs at a time: the agents are one load generator, and two
/// sweeps that share it would each be the other's disturbance. Thread-safe.
class SweepService {
  public:
    SweepService(const ControllerConfig& config, net::HttpClient& http, storage::SweepStore& store,
                 Clock& clock, std::int64_t epoch, std::function<void(const storage::TrialRow&)> on_trial);
    ~SweepService();
    SweepService(const SweepService&) = delete;
    SweepService& operator=(const SweepService&) = delete;

    /// Looks at a configured cluster, its metrics and the agents. Errors: not_found, unavailable.
    tl::expected<Preflight, Error> look(const std::string& cluster);
    /// Everything a start checks, without starting. Errors: invalid_input (pointers), conflict (busy),
    /// unavailable.
    tl::expected<Preflight, Error> validate(const SweepSpec& spec);
    /// Starts a sweep on a thread of its own, once all that can be checked beforehand is. Errors: as
    /// `validate`.
    tl::expected<storage::SweepRow, Error> start(const SweepSpec& spec);
    /// Asks a running sweep to stop; a sweep that has ended stays as it is. Errors: not_found.
    tl::expected<storage::SweepRow, Error> cancel(const std::string& id);
    /// What the sweep is doing now; nothing unless it runs.
    [[nodiscard]] std::optional<Progress> progress(const std::string& id);
    /// The sweep that runs, if any, and its cluster.
    struct Holder {
        std::string id;
        std::string cluster;
    };
    [[nodiscard]] std::optional<Holder> holder();
    [[nodiscard]] std::vector<fleet::AgentStatus> agents();
    [[nodiscard]] const ControllerConfig& config() const { return config_; }
    [[nodiscard]] const Clock& clock() const { return clock_; }
    /// Ends what runs, for the end of the controller. No sweep starts afterwards.
    void shut_down();

  private:
    struct Running;
    tl::expected<const ClusterConfig*, Error> configured(const std::string& cluster) const;
    tl::expected<void, Error> claim(const std::string& cluster);
    void let_go();
    tl::expected<storage::SweepRow, Error> launch(const SweepSpec& spec);

    const ControllerConfig& config_;
    net::HttpClient& http_;
    storage::SweepStore& store_;
    Clock& clock_;
    std::int64_t epoch_;
    std::function<void(const storage::TrialRow&)> on_trial_;
    std::atomic<bool> shutting_down_{false};
    std::mutex mutex_;
    std::string claimed_by_;  ///< cluster of a start under way
    std::unique_ptr<Running> running_;
};

/// The agents of a configuration, as the fleet addresses them.
std::vector<fleet::AgentAddress> agent_addresses(const ControllerConfig& config);

}  // namespace brink

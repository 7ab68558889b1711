#pragma once
#include <cstdint>
#include <string>

#include "agents/protocol/messages.hpp"

namespace brink::worker {

/// CPUs this process may use: its affinity, and the quota of its control groups (v2 or v1) where there is
/// one.
double usable_cpus();
/// Quota in CPUs of a cgroup v2 `cpu.max` ("200000 100000" → 2); 0 when there is none ("max 100000").
double parse_cpu_max(const std::string& text);

/// Open descriptors of this process.
int count_open_descriptors();
/// A number from a `Name:  value …` line of /proc/self/status; 0 when it is not there.
std::int64_t status_figure(const std::string& name);

/// Measures the load of this process between two calls. Not thread-safe.
class ProcessLoad {
  public:
    ProcessLoad();
    /// Load since the last call (or construction); call about once a second.
    protocol::AgentLoad sample();
    [[nodiscard]] double cpus() const { return cpus_; }

  private:
    double cpus_;
    std::int64_t sampled_at_ns_;
    std::int64_t cpu_ns_;
};

}  // namespace brink::worker

#include "agents/worker/process_load.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "agents/worker/monotonic.hpp"

namespace brink::worker {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

double number_in(const fs::path& path) {
    std::ifstream file(path);
    double value = 0;
    return file >> value ? value : 0;
}

/// The smallest quota from a control group up to the root of its hierarchy; 0 when there is none.
template <typename Quota>
double smallest_quota(const fs::path& root, fs::path group, Quota quota) {
    double smallest = 0;
    for (;;) {
        const double here = quota(root / group.relative_path());
        if (here > 0 && (smallest == 0 || here < smallest)) smallest = here;
        if (group.relative_path().empty()) return smallest;
        group = group.parent_path();
    }
}

double quota_v1(const fs::path& folder) {
    const double quota = number_in(folder / "cpu.cfs_quota_us");
    const double period = number_in(folder / "cpu.cfs_period_us");
    return quota > 0 && period > 0 ? quota / period : 0;
}

double group_quota() {
    std::ifstream groups("/proc/self/cgroup");
    double smallest = 0;
    const auto keep = [&](double quota) {
        if (quota > 0 && (smallest == 0 || quota < smallest)) smallest = quota;
    };
    // Lines are "0::/path" (v2) or "5:cpu,cpuacct:/path" (v1).
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const auto controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        const fs::path group = line.substr(second + 1);
        if (controllers == ",,")
            keep(smallest_quota("/sys/fs/cgroup", group, [](const fs::path& folder) {
                return parse_cpu_max(first_line(folder / "cpu.max"));
            }));
        if (controllers.find(",cpu,") != std::string::npos)
            keep(smallest_quota("/sys/fs/cgroup/cpu", group, quota_v1));
    }
    return smallest;
}

std::int64_t process_cpu_ns() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * kNsPerSecond + used.tv_nsec;
}

}  // namespace

double parse_cpu_max(const std::string& text) {
    std::istringstream words(text);
    double quota = 0;
    double period = 0;
    return words >> quota >> period && quota > 0 && period > 0 ? quota / period : 0;
}

double usable_cpus() {
    double cpus = std::max(1U, std::thread::hardware_concurrency());
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) cpus = std::max(1, CPU_COUNT(&allowed));
    const double quota = group_quota();
    return quota > 0 ? std::min(cpus, quota) : cpus;
}

int count_open_descriptors() {
    int count = 0;
    std::error_code fault;
    for (fs::directory_iterator it("/proc/self/fd", fault), end; !fault && it != end; it.increment(fault))
        ++count;
    return std::max(0, count - 1);  // one of them is the iterator's own
}

std::int64_t status_figure(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with(name + ":")) continue;
        std::istringstream rest(line.substr(name.size() + 1));
        std::int64_t value = 0;
        return rest >> value ? value : 0;
    }
    return 0;
}

ProcessLoad::ProcessLoad()
    : cpus_(usable_cpus()), sampled_at_ns_(monotonic_ns()), cpu_ns_(process_cpu_ns()) {}

protocol::AgentLoad ProcessLoad::sample() {
    const auto now = monotonic_ns();
    const auto cpu = process_cpu_ns();
    protocol::AgentLoad load;
    if (now > sampled_at_ns_)
        load.process_cpu_cores =
            static_cast<double>(cpu - cpu_ns_) / static_cast<double>(now - sampled_at_ns_);
    load.cpu_share = std::clamp(load.process_cpu_cores / cpus_, 0.0, 1.0);
    load.rss_mb = static_cast<double>(status_figure("VmRSS")) * 1'024 / 1e6;
    load.open_fds = count_open_descriptors();
    load.threads = static_cast<int>(status_figure("Threads"));
    sampled_at_ns_ = now;
    cpu_ns_ = cpu;
    return load;
}

}  // namespace brink::worker

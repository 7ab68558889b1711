#include "agents/worker/host_limits.hpp"

#include <librdkafka/rdkafka.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "agents/worker/process_load.hpp"
#include "brink_version.hpp"

namespace brink::worker {
namespace {

/// Left for connections of the HTTP server and the rest of the process.
constexpr std::int64_t kSpareDescriptors = 64;
constexpr std::int64_t kSpareThreads = 32;
/// What most clusters have at least; used where no cluster is known yet.
constexpr int kAssumedBrokers = 3;

std::int64_t threads_per_producer(int brokers) { return brokers + 2; }
std::int64_t descriptors_per_producer(int brokers) { return 3LL * brokers + 4; }

std::int64_t number_in(const char* path) {
    std::ifstream file(path);
    std::int64_t value = 0;
    return file >> value ? value : 0;
}

void tighten(std::int64_t& limit, std::int64_t other) {
    if (other > 0 && (limit == 0 || other < limit)) limit = other;
}

/// The control group's own limit, where this process sees it at the usual places.
std::int64_t group_threads() {
    std::int64_t limit = 0;
    for (const char* path : {"/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"})
        tighten(limit, number_in(path));
    return limit;
}

Error no_room(const char* what, std::int64_t need, std::int64_t used, std::int64_t limit, int producers,
              int brokers, const char* change) {
    return Error{ErrorCode::conflict,
                 std::to_string(producers) + " producers for " + std::to_string(brokers) +
                     " brokers need about " + std::to_string(need) + " " + what + ", but " +
                     std::to_string(used) + " of " + std::to_string(limit) + " are in use: " + change};
}

}  // namespace

void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));
}

HostLimits host_limits() {
    HostLimits limits;
    rlimit descriptors{};
    if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0 && descriptors.rlim_cur != RLIM_INFINITY)
        limits.descriptors = static_cast<std::int64_t>(descriptors.rlim_cur);
    limits.descriptors_used = count_open_descriptors();
    rlimit processes{};
    // The kernel does not hold root to RLIMIT_NPROC.
    if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur != RLIM_INFINITY)
        tighten(limits.threads, static_cast<std::int64_t>(processes.rlim_cur));
    tighten(limits.threads, number_in("/proc/sys/kernel/threads-max"));
    tighten(limits.threads, group_threads());
    limits.threads_used = status_figure("Threads");
    return limits;
}

tl::expected<void, Error> check_room(const HostLimits& limits, int producers, int brokers) {
    const auto descriptors = descriptors_per_producer(brokers) * producers + kSpareDescriptors;
    if (limits.descriptors > 0 && limits.descriptors_used + descriptors > limits.descriptors)
        return tl::unexpected(no_room("file descriptors", descriptors, limits.descriptors_used,
                                      limits.descriptors, producers, brokers,
                                      "raise the limit (ulimit -n) or use more agents"));
    const auto threads = threads_per_producer(brokers) * producers + kSpareThreads;
    if (limits.threads > 0 && limits.threads_used + threads > limits.threads)
        return tl::unexpected(no_room("threads", threads, limits.threads_used, limits.threads, producers,
                                      brokers, "raise the limit (ulimit -u, pids.max) or use more agents"));
    return {};
}

int most_producers(const HostLimits& limits, int brokers) {
    std::int64_t most = std::numeric_limits<int>::max();
    if (limits.descriptors > 0)
        most = std::min(most, (limits.descriptors - limits.descriptors_used - kSpareDescriptors) /
                                  descriptors_per_producer(brokers));
    if (limits.threads > 0)
        most = std::min(
            most, (limits.threads - limits.threads_used - kSpareThreads) / threads_per_producer(brokers));
    if (most == std::numeric_limits<int>::max()) return 0;
    return static_cast<int>(std::max<std::int64_t>(most, 1));
}

protocol::HostFacts host_facts() {
    protocol::HostFacts facts;
    facts.version = kVersion;
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) == 0) facts.hostname = name.data();
    utsname system{};
    if (uname(&system) == 0) facts.kernel = std::string(system.sysname) + " " + system.release;
    facts.cpus = static_cast<int>(std::max(1.0, std::floor(usable_cpus())));
    facts.memory_mb =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
    facts.librdkafka = rd_kafka_version_str();
    facts.clock_unix_ms = static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                                  std::chrono::system_clock::now().time_since_epoch())
                                                  .count());
    facts.max_producers = most_producers(host_limits(), kAssumedBrokers);
    return facts;
}

}  // namespace brink::worker

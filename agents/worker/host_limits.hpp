#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "agents/protocol/messages.hpp"
#include "search/error.hpp"

namespace brink::worker {

/// Raises the soft limit of descriptors to the hard one. Best effort.
void raise_descriptor_limit();

/// What the machine lets this process open and run, and how much of it is in use.
struct HostLimits {
    std::int64_t descriptors = 0;  ///< 0: unlimited
    std::int64_t descriptors_used = 0;
    std::int64_t threads = 0;  ///< 0: unlimited
    std::int64_t threads_used = 0;
};
HostLimits host_limits();

/// Whether `producers` more clients of a cluster of `brokers` fit: each takes about brokers + 2 threads and
/// 3 × brokers + 4 descriptors, and librdkafka misbehaves instead of failing when they run out.
/// Errors: conflict, with the numbers.
tl::expected<void, Error> check_room(const HostLimits& limits, int producers, int brokers);
/// How many fit for a cluster of `brokers`; 0 when nothing is limited.
int most_producers(const HostLimits& limits, int brokers);

/// Name, kernel, CPUs, memory, library version, limits: everything about the host but its load.
protocol::HostFacts host_facts();

}  // namespace brink::worker

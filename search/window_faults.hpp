#pragma once
#include <optional>
#include <string>
#include <vector>

#include "search/verdict.hpp"

// What voids a window though its readings can be read: something happened in it that no rule of overload is
// about. Each has a reason of its own. Pure.

namespace brink {

/// What happened to one broker, or to how it was read: its process restarted, a clock jumped, a counter was
/// reset. The cause is named, not what follows from it; nothing when all is well.
std::optional<std::string> broker_event(const BrokerWindow& broker);

/// No scrape of the broker was read for longer than 2.5 intervals in one piece (an interval being the
/// configured or the usual one, whichever is longer, and no hole being shorter than 5 s).
std::optional<std::string> scrape_gap(const BrokerWindow& broker, const TrialWindow& window);

/// The agents' messages are larger than the brokers, the topic or the client take: no load of this size can
/// be judged, and repeating it is of no use. Goes with the flag `kMessageTooLarge`.
std::optional<std::string> size_fault(const std::vector<AgentWindow>& agents);
inline constexpr const char* kMessageTooLarge = "message_too_large";

/// What voids a window that the published rules have judged: partitions below min.insync.replicas where the
/// brokers themselves showed no overload; or one broker that takes more than 1.5 times the median traffic
/// though all lead equally many partitions, where that broker decides or nothing was overloaded.
std::vector<std::string> judged_faults(const Verdict& judged, const TrialWindow& window);

/// Says that the limit is one broker's and not the cluster's, where its idle fell below the threshold while
/// the median broker is far above. Not a fault: goes with the flag `one_slow_broker`.
std::optional<std::string> one_slow_broker(const Verdict& judged);

}  // namespace brink

#pragma once
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"

namespace brink {

class TomlTable;

/// A guard of the user's own, over a recorded signal of any broker: the load stops when one broker's reading
/// is beyond the mark. Exactly one of `above` and `below`.
struct SignalGuard {
    std::string name;  ///< of the signal, as `brink check` lists it
    std::optional<double> above{};
    std::optional<double> below{};
    bool ends_sweep = false;  ///< `ends = "sweep"`: not only the trial
};

/// What stops the load of a trial, whatever the verdict would be. `[clusters.guards]`.
struct GuardConfig {
    double offline_partitions_above = 0;  ///< of the whole cluster
    double under_min_isr_above = 0;       ///< partitions, over all brokers
    double log_disk_share_above = 0.85;   ///< of the fullest log disk
    /// Traffic of other clients while a trial runs. Nothing: as `foreign_mb_per_s_above` of the controller.
    std::optional<double> foreign_mb_per_s_above{};
    std::vector<SignalGuard> signals{};
};

/// Reads `[clusters.guards]` with its `[[clusters.guards.signal]]`. Errors: configuration.
tl::expected<GuardConfig, Error> read_guards(TomlTable& table);

}  // namespace brink

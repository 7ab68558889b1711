#pragma once
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "daemon/cli/watch_view.hpp"

namespace brink::cli {

/// Finds what is new since the last look at a sweep, so that each finished trial and point is told once.
class WatchLog {
  public:
    /// `{"event":"trial_finished","trial":{…}}` and `{"event":"point_finished","point":{…}}`, a point after
    /// its trials; then, once, `{"event":"end","sweep":{…}}`.
    std::vector<nlohmann::json> advance(const SweepSnapshot& snapshot);

  private:
    std::set<std::int64_t> trials_;
    std::set<std::int64_t> points_;
    bool ended_ = false;
};

/// An event as a line of text.
std::string event_line(const nlohmann::json& event, const SweepSnapshot& snapshot);

}  // namespace brink::cli

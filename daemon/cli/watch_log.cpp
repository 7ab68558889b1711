#include "daemon/cli/watch_log.hpp"

#include "daemon/cli/fields.hpp"
#include "daemon/cli/sweep_lookup.hpp"

namespace brink::cli {

using nlohmann::json;

std::vector<json> WatchLog::advance(const SweepSnapshot& snapshot) {
    std::vector<json> events;
    for (const auto& point : snapshot.points) {
        const auto index = integer(point, "point").value_or(-1);
        for (const auto& trial : snapshot.trials) {
            const std::string state = text(trial, "state");
            if (integer(trial, "point") != index || (state != "finished" && state != "void")) continue;
            if (!trials_.insert(integer(trial, "trial").value_or(-1)).second) continue;
            events.push_back({{"event", "trial_finished"}, {"trial", trial}});
        }
        const std::string state = text(point, "state");
        if ((state == "done" || state == "failed") && points_.insert(index).second) {
            events.push_back({{"event", "point_finished"}, {"point", point}});
        }
    }
    if (!ended_ && has_ended(text(snapshot.sweep, "state"))) {
        ended_ = true;
        events.push_back({{"event", "end"}, {"sweep", snapshot.sweep}});
    }
    return events;
}

std::string event_line(const json& event, const SweepSnapshot& snapshot) {
    const std::string kind = text(event, "event");
    if (kind == "trial_finished") return trial_line(member(event, "trial"));
    if (kind == "point_finished") return point_line(member(event, "point"), snapshot.trials);
    return end_line(member(event, "sweep"));
}

}  // namespace brink::cli

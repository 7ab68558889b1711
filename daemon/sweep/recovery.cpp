#include "daemon/sweep/recovery.hpp"

#include <spdlog/spdlog.h>

namespace brink {
namespace {

constexpr std::chrono::milliseconds kDeadline{20'000};
constexpr const char* kReason = "the controller ended while the sweep ran; what had finished is kept";

tl::expected<void, Error> end_orphan(storage::SweepStore& store, const Clock& clock,
                                     storage::SweepRow& sweep) {
    const auto trials = store.trials(sweep.id);
    if (!trials) return tl::unexpected(trials.error());
    for (auto trial : *trials) {
        if (trial.state != "running") continue;
        trial.state = "void";
        trial.verdict = "invalid";
        trial.verdict_json = R"({"reasons":["the controller ended during the trial"]})";
        trial.finished_at_ms = clock.unix_ms();
        if (auto stored = store.finish_trial(trial, {}, {}); !stored) return stored;
    }
    const auto points = store.points(sweep.id);
    if (!points) return tl::unexpected(points.error());
    for (auto point : *points) {
        if (point.state != "running" && point.state != "pending") continue;
        point.state = "failed";
        point.flags = "failed";
        point.state_reason = kReason;
        point.finished_at_ms = clock.unix_ms();
        if (auto stored = store.update_point(point); !stored) return stored;
    }
    sweep.state = "failed";
    sweep.state_reason = kReason;
    sweep.finished_at_ms = clock.unix_ms();
    return store.update_sweep(sweep);
}

}  // namespace

tl::expected<std::vector<storage::SweepRow>, Error> end_orphans(storage::SweepStore& store,
                                                                const Clock& clock) {
    auto unfinished = store.unfinished_sweeps();
    if (!unfinished) return tl::unexpected(unfinished.error());
    for (auto& sweep : *unfinished) {
        if (auto ended = end_orphan(store, clock, sweep); !ended) return tl::unexpected(ended.error());
        spdlog::warn("event=orphan_ended sweep={} cluster={} reason=\"{}\"", sweep.id, sweep.cluster,
                     kReason);
    }
    return *unfinished;
}

void delete_orphaned_topics(const std::vector<storage::SweepRow>& orphans,
                            const std::function<std::unique_ptr<Cluster>(const std::string&)>& connect) {
    for (const auto& sweep : orphans) {
        const auto cluster = connect(sweep.cluster);
        if (!cluster) {
            spdlog::warn("event=orphaned_topic_left sweep={} topic={} error=\"cluster {} cannot be reached\"",
                         sweep.id, sweep.topic, sweep.cluster);
            continue;
        }
        if (auto deleted = cluster->delete_topic(sweep.topic, kDeadline); !deleted) {
            spdlog::warn("event=orphaned_topic_left sweep={} topic={} error=\"{}\"", sweep.id, sweep.topic,
                         deleted.error().message);
        } else {
            spdlog::info("event=orphaned_topic_deleted sweep={} topic={}", sweep.id, sweep.topic);
        }
    }
}

}  // namespace brink

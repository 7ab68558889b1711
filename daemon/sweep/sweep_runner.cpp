#include "daemon/sweep/sweep_runner.hpp"

#include <spdlog/spdlog.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "brink_version.hpp"
#include "config/sweep_spec.hpp"
#include "daemon/sweep/point_result.hpp"
#include "daemon/sweep/rate_calibration.hpp"
#include "daemon/sweep/topic_look.hpp"
#include "daemon/sweep/topic_settings.hpp"
#include "daemon/sweep/trial_record.hpp"
#include "search/boundary_search.hpp"
#include "search/warm_start.hpp"
#include "search/window_faults.hpp"

namespace brink {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kTopicDeadline{30'000};
constexpr int kCalibrationProducers = 10;
/// How many producers a rate is chosen for, so that the boundary is neither one producer nor thousands.
constexpr double kExpectedProducers = 50;
/// A calibration step is short: it only has to tell little from much.
constexpr double kCalibrationWarmUp_s = 2;
/// Rest needs as many scrapes as a verdict does, and a while.
constexpr double kRestScrapes = 12;
constexpr double kShortestRest_s = 6;
constexpr int kCalibrationScrapes = 4;

RestSettings rest_settings(const SweepSpec& spec, const SweepLimits& limits) {
    RestSettings settings;
    settings.scrape_interval_s = spec.scrape_interval_s;
    settings.observe_s = std::max(kShortestRest_s, kRestScrapes * spec.scrape_interval_s);
    settings.scrape_timeout = limits.scrape_timeout;
    settings.sub_window_s = spec.sub_window_s;
    settings.foreign_bytes_per_s_above = limits.foreign_bytes_per_s_above;
    settings.churn_above = spec.isr_churn_above;
    settings.guards = limits.guards;
    return settings;
}

/// Whether something else than the brokers' IO threads held this load back, be it explained or not.
bool overloaded_otherwise(const storage::TrialRow& trial) {
    constexpr double kFarShort = 0.90;
    const bool short_of_it =
        trial.acked_msgs_per_s.value_or(0) < kFarShort * trial.offered_msgs_per_s.value_or(0);
    return trial.limited_by == "quota" || trial.limited_by == "delivery" ||
           (trial.verdict == "invalid" && short_of_it);
}

bool ends_sweep(const Error& error) {
    return error.code == ErrorCode::storage || error.code == ErrorCode::cancelled ||
           error.code == ErrorCode::timed_out || error.code == ErrorCode::conflict;
}

/// The spec on a source that is sampled by somebody else, and perhaps less often than the spec asks for.
SweepSpec sampled(SweepSpec spec, double interval_s) {
    spec.scrape_interval_s = std::max(spec.scrape_interval_s, interval_s);
    spec.sub_window_s = std::max(spec.sub_window_s, interval_s);
    return spec;
}

}  // namespace

SweepRunner::SweepRunner(SweepTools tools, SweepLimits limits, SweepSpec spec, Preflight look,
                         storage::SweepRow sweep, std::vector<storage::PointRow> points)
    : tools_(tools),
      limits_(std::move(limits)),
      spec_(sampled(std::move(spec), look.sampling_interval_s)),
      look_(std::move(look)),
      sweep_(std::move(sweep)),
      points_(std::move(points)),
      trials_(tools.cluster, tools.fleet, tools.metrics, tools.clock, tools.board),
      rest_settings_(rest_settings(spec_, limits_)) {}

void SweepRunner::run(const std::stop_token& stop) {
    sweep_.state = "running";
    sweep_.started_at_ms = tools_.clock.unix_ms();
    sweep_.fingerprint_json = fingerprint();
    auto outcome = tools_.store.update_sweep(sweep_).and_then([&] { return trace_curve(stop); });
    tools_.fleet.remove();
    if (topic_created_) {
        if (auto deleted = tools_.cluster.delete_topic(sweep_.topic, kTopicDeadline); !deleted) {
            spdlog::warn("event=topic_not_deleted sweep={} topic={} error=\"{}\"", sweep_.id, sweep_.topic,
                         deleted.error().message);
        }
    }
    finish(outcome, stop);
}

tl::expected<void, Error> SweepRunner::trace_curve(const std::stop_token& stop) {
    if (auto created = create_topic(); !created) return created;
    if (auto learned = learn_rest(stop); !learned) return learned;
    for (auto& point : points_) {
        if (&point != &points_.front()) empty_topic();
        if (auto answered = answer(point, stop); !answered) return answered;
    }
    return {};
}

tl::expected<void, Error> SweepRunner::create_topic() {
    const auto factor = replication_factor(spec_, look_.brokers.size());
    auto replicas = assign_replicas(look_.cluster.brokers, spec_.partitions_per_broker, factor);
    if (!replicas) return tl::unexpected(replicas.error());
    TopicSpec topic{.name = sweep_.topic,
                    .replicas = std::move(*replicas),
                    .config = topic_settings(spec_, look_.brokers.size())};
    auto created = tools_.cluster.create_topic(topic, kTopicDeadline);
    // A topic that was there before is not ours to delete.
    topic_created_ = created.has_value() || created.error().code != ErrorCode::conflict;
    return created;
}

tl::expected<void, Error> SweepRunner::restore_topic() {
    const auto seen = tools_.cluster.partitions(sweep_.topic, kTopicDeadline);
    if (!seen) return {};  // the trial looks as well, and is void when it cannot
    const auto moved = unequal_leaders(*seen, look_.brokers.size());
    if (!moved) return {};
    spdlog::warn("event=topic_laid_out_anew sweep={} topic={} reason=\"{}\"", sweep_.id, sweep_.topic,
                 *moved);
    auto made =
        tools_.cluster.delete_topic(sweep_.topic, kTopicDeadline).and_then([&] { return create_topic(); });
    if (made) return {};
    // Whatever it was, no further trial can be fair: this ends the sweep.
    return tl::unexpected(Error{
        ErrorCode::timed_out, *moved + ", and it could not be laid out anew: " + made.error().message, {}});
}

tl::expected<void, Error> SweepRunner::learn_rest(const std::stop_token& stop) {
    tools_.board.change([&](Progress& p) {
        p.phase = "observing_rest";
        p.phase_ends_at_s = tools_.clock.now_s() + rest_settings_.observe_s;
    });
    auto report = observe_rest(tools_.metrics, tools_.clock, rest_settings_, stop);
    if (!report) return tl::unexpected(report.error());
    rest_ = report->readings;
    json readings = json::array();
    for (const auto& r : rest_) {
        readings.push_back({{"broker_id", r.broker_id},
                            {"idle", r.idle},
                            {"isr_churn", r.isr_churn},
                            {"bytes_in_per_s", r.bytes_in_per_s},
                            {"warnings", report->warnings[r.broker_id]}});
        for (const auto& warning : report->warnings[r.broker_id])
            spdlog::warn("event=rest_warning sweep={} broker={} warning=\"{}\"", sweep_.id, r.broker_id,
                         warning);
    }
    sweep_.rest_json = readings.dump();
    if (auto stored = tools_.store.update_sweep(sweep_); !stored) return stored;
    if (report->problems.empty()) return {};
    return tl::unexpected(
        Error{ErrorCode::conflict,
              fmt::format("the cluster cannot be judged: {}", fmt::join(report->problems, "; ")),
              {}});
}

tl::expected<void, Error> SweepRunner::answer(storage::PointRow& point, const std::stop_token& stop) {
    tools_.board.change([&](Progress& p) { p.point = point.point, p.message_bytes = point.message_bytes; });
    point.state = "running";
    point.started_at_ms = tools_.clock.unix_ms();
    point_trials_.clear();
    if (auto stored = tools_.store.update_point(point); !stored) return stored;
    const auto found = resolve_rate(point, stop).and_then([&] { return search_boundary(point, stop); });
    point.finished_at_ms = tools_.clock.unix_ms();
    if (found) {
        conclude(point, *found, point_trials_, look_.brokers.size(), order_for(point, 1, 1).rules);
        if (point.lower_msgs_per_s && point.upper_msgs_per_s &&
            off_curve({{point.message_bytes}, {*point.lower_msgs_per_s}, {*point.upper_msgs_per_s}},
                      finished_besides(point))) {
            point.flags += point.flags.empty() ? "off_curve" : " off_curve";
        }
        spdlog::info("event=point_done sweep={} point={} message_bytes={} lower={} upper={} limited_by={}",
                     sweep_.id, point.point, point.message_bytes, point.lower_msgs_per_s.value_or(0),
                     point.upper_msgs_per_s.value_or(0), point.limited_by);
    } else {
        // The point ends here; whether the sweep does depends on what it was.
        point.state = "failed";
        point.flags = "failed";
        point.trials = static_cast<int>(point_trials_.size());
        point.state_reason = found.error().message;
    }
    if (auto stored = tools_.store.update_point(point); !stored) return stored;
    if (!found && ends_sweep(found.error())) return tl::unexpected(found.error());
    return {};
}

void SweepRunner::empty_topic() {
    // Deleting records waits for every follower, which a cluster with churning replicas may not give in time.
    // The topic's retention bounds the disk anyway, so this is worth a line in the log and not the sweep.
    if (auto emptied = tools_.cluster.empty_topic(sweep_.topic, kTopicDeadline); !emptied) {
        spdlog::warn("event=topic_not_emptied sweep={} topic={} error=\"{}\"", sweep_.id, sweep_.topic,
                     emptied.error().message);
    }
}

tl::expected<void, Error> SweepRunner::resolve_rate(storage::PointRow& point, const std::stop_token& stop) {
    if (point.rate_each) return {};
    const auto given = spec_.rate_each.for_size({point.message_bytes});
    std::optional<MessagesPerSecond> expected_rate;
    if (const auto boundary = expected_boundary(point))
        expected_rate = {boundary->value / kExpectedProducers};
    // Two finished sizes give a line, and the search copes with what it is off: no calibration then.
    const bool known = expected_rate && finished_besides(point).size() >= 2;
    auto rate =
        given   ? tl::expected<MessagesPerSecond, Error>(*given)
        : known ? tl::expected<MessagesPerSecond, Error>(MessagesPerSecond{two_digits(expected_rate->value)})
                : calibrate_rate(
                      [&](MessagesPerSecond each,
                          const std::string& why) -> tl::expected<CalibrationReading, Error> {
                          storage::TrialRow trial{.sweep_id = sweep_.id,
                                                  .point = point.point,
                                                  .purpose = "calibration",
                                                  .producers = kCalibrationProducers,
                                                  .rate_each = each.value,
                                                  .message_bytes = point.message_bytes,
                                                  .chosen_because = why};
                          auto order = order_for(point, kCalibrationProducers, each.value);
                          order.warm_up_s = std::min(kCalibrationWarmUp_s, spec_.warm_up_s);
                          // Samples that somebody else makes fall where they will: one more for the edges.
                          order.measure_s = std::ceil(kCalibrationScrapes * spec_.scrape_interval_s +
                                                      look_.sampling_interval_s);
                          order.max_extensions = 0;
                          order.rules.min_scrapes = kCalibrationScrapes;
                          auto ran = run_trial(std::move(trial), order, stop);
                          if (!ran) return tl::unexpected(ran.error());
                          if (!ran->worst_idle)
                              return tl::unexpected(Error{ErrorCode::bad_reply, outcome_of(*ran).reason, {}});
                          return CalibrationReading{.busy = 1 - *ran->worst_idle,
                                                    .generator_limited = ran->verdict == "generator_limited",
                                                    .overloaded_otherwise = overloaded_otherwise(*ran)};
                      },
                      expected_rate);
    if (!rate) return tl::unexpected(rate.error().within("finding the rate of one producer"));
    point.rate_each = rate->value;
    return tools_.store.update_point(point);
}

std::vector<FinishedPoint> SweepRunner::finished_besides(const storage::PointRow& point) const {
    std::vector<FinishedPoint> finished;
    for (const auto& p : points_) {
        if (p.point != point.point && p.state == "done" && p.lower_msgs_per_s && p.upper_msgs_per_s)
            finished.push_back({{p.message_bytes}, {*p.lower_msgs_per_s}, {*p.upper_msgs_per_s}});
    }
    return finished;
}

std::optional<MessagesPerSecond> SweepRunner::expected_boundary(const storage::PointRow& point) const {
    if (spec_.strategy == "bisection") return std::nullopt;  // stays the method as published
    const auto cost = fit_cost(finished_besides(point));
    if (!cost) return std::nullopt;
    return cost->rate({point.message_bytes});
}

tl::expected<PointDone, Error> SweepRunner::search_boundary(storage::PointRow& point,
                                                            const std::stop_token& stop) {
    SearchSettings settings{.margin = spec_.margin,
                            .io_idle_below = spec_.io_idle_below,
                            .invalid_retries = limits_.invalid_retries};
    if (spec_.producers_max) settings.max = ProducerCount{*spec_.producers_max};
    settings.ceiling = ProducerCount{limits_.max_producers};
    if (const auto expected = expected_boundary(point);
        expected && spec_.rate_each.for_size({point.message_bytes}))
        settings.hint.value =
            std::clamp(static_cast<int>(expected->value / *point.rate_each), 1, limits_.max_producers);
    const auto search = make_search(spec_.strategy, settings);
    while (true) {
        const auto step = search->next();
        if (const auto* done = std::get_if<PointDone>(&step)) return *done;
        if (const auto* failed = std::get_if<PointFailed>(&step)) {
            return tl::unexpected(Error{ErrorCode::bad_reply, failed->reason, {}});
        }
        const auto& attempt = std::get<TryLoad>(step);
        storage::TrialRow trial{.sweep_id = sweep_.id,
                                .point = point.point,
                                .producers = attempt.producers.value,
                                .rate_each = *point.rate_each,
                                .message_bytes = point.message_bytes,
                                .chosen_because = attempt.why};
        auto ran =
            run_trial(std::move(trial), order_for(point, attempt.producers.value, *point.rate_each), stop);
        if (!ran) return tl::unexpected(ran.error());
        point_trials_.push_back(*ran);
        search->record(outcome_of(*ran));
    }
}

tl::expected<storage::TrialRow, Error> SweepRunner::run_trial(storage::TrialRow trial, TrialOrder order,
                                                              const std::stop_token& stop) {
    if (auto ready = restore_topic(); !ready) return tl::unexpected(ready.error());
    trial.sweep_id = sweep_.id;
    trial.trial = ++last_trial_;
    trial.started_at_ms = tools_.clock.unix_ms();
    order.id = fmt::format("{}-{}", sweep_.id, trial.trial);
    tools_.board.change([&](Progress& p) {
        p = Progress{.point = trial.point,
                     .message_bytes = trial.message_bytes,
                     .trial = trial.trial,
                     .producers = trial.producers,
                     .rate_each = trial.rate_each,
                     .why = trial.chosen_because};
    });
    if (auto begun = tools_.store.begin_trial(trial); !begun) return tl::unexpected(begun.error());
    const auto result = trials_.run(order, rest_, stop);
    trial.finished_at_ms = tools_.clock.unix_ms();
    write_outcome(trial, result, order.rules);
    if (stop.stop_requested()) trial.state = "void";
    spdlog::info(
        "event=trial_finished sweep={} trial={} purpose={} message_bytes={} producers={} rate_each={} "
        "verdict={} idle={:.3f}",
        sweep_.id, trial.trial, trial.purpose, trial.message_bytes, trial.producers, trial.rate_each,
        trial.verdict, trial.worst_idle.value_or(-1));
    auto stored =
        tools_.store.finish_trial(trial, sample_rows(trial, result), agent_report_rows(trial, result));
    if (!stored) return tl::unexpected(stored.error());
    if (tools_.on_trial) tools_.on_trial(trial);
    if (stop.stop_requested()) return tl::unexpected(Error{ErrorCode::cancelled, "cancelled", {}});
    if (result.guard && result.guard->ends_sweep) {
        return tl::unexpected(
            Error{ErrorCode::conflict, "a guard ended the sweep: " + result.guard->reason, {}});
    }
    tools_.board.change([](Progress& p) { p.phase = "recovering", p.phase_ends_at_s = 0; });
    if (auto back = recover_to_rest(tools_.metrics, tools_.clock, rest_settings_, rest_, stop); !back) {
        return tl::unexpected(back.error());
    }
    const auto& flags = result.verdict.flags;
    if (std::find(flags.begin(), flags.end(), kMessageTooLarge) != flags.end()) {
        // A matter of configuration: trying again would show the same. The other sizes go on.
        return tl::unexpected(Error{ErrorCode::invalid_input, result.verdict.reasons.front(), {}});
    }
    return trial;
}

TrialOrder SweepRunner::order_for(const storage::PointRow& point, int producers, double rate_each) const {
    TrialOrder order;
    order.load.bootstrap_servers = limits_.bootstrap_servers;
    order.load.topic = sweep_.topic;
    // What reaches the cluster comes first, the profile may not undo it, and the spec's own properties go on
    // top.
    order.load.client = client_profile(spec_.client_profile);
    for (const auto& [key, value] : limits_.client) order.load.client[key] = value;
    for (const auto& [key, value] : spec_.client) order.load.client[key] = value;
    order.load.message_bytes = point.message_bytes;
    order.load.payload = protocol::payload_kind_from(spec_.payload).value_or(protocol::PayloadKind::random);
    order.load.producers = producers;
    order.load.total_producers = producers;
    order.load.rate_each = rate_each;
    order.warm_up_s = spec_.warm_up_s;
    order.measure_s = spec_.measure_s;
    order.early_end = spec_.early_end;
    order.max_extensions = spec_.max_extensions;
    order.scrape_interval_s = spec_.scrape_interval_s;
    order.scrape_timeout = limits_.scrape_timeout;
    order.guards = limits_.guards;
    order.foreign_bytes_per_s_above = limits_.guards.foreign_mb_per_s_above
                                          ? *limits_.guards.foreign_mb_per_s_above * 1e6
                                          : limits_.foreign_bytes_per_s_above;
    order.rules.io_idle_below = spec_.io_idle_below;
    order.rules.isr_churn_above = spec_.isr_churn_above;
    order.rules.mean_across_brokers = spec_.mean_across_brokers;
    order.rules.sub_window_s = spec_.sub_window_s;
    order.rules.quota = spec_.quota;
    order.rules.replication = spec_.replication;
    order.rules.delivery = spec_.delivery;
    return order;
}

std::string SweepRunner::fingerprint() const {
    json brokers = json::array();
    for (const auto& b : look_.brokers) {
        brokers.push_back({{"broker_id", b.info.id},
                           {"host", b.info.host},
                           {"port", b.info.port},
                           {"rack", b.info.rack},
                           {"config", b.config}});
    }
    json agents = json::array();
    for (const auto& a : look_.agents) {
        agents.push_back({{"agent", a.name},
                          {"state", a.state},
                          {"hostname", a.facts.hostname},
                          {"version", a.facts.version},
                          {"kernel", a.facts.kernel},
                          {"cpus", a.facts.cpus},
                          {"memory_mb", a.facts.memory_mb},
                          {"librdkafka", a.facts.librdkafka}});
    }
    auto client = client_profile(spec_.client_profile);
    for (const auto& [key, value] : spec_.client) client[key] = value;
    return json{{"brink_version", kVersion},
                {"brink_commit", kCommit},
                {"cluster_id", look_.cluster.cluster_id},
                {"brokers", brokers},
                {"agents", agents},
                {"topic",
                 {{"partitions", spec_.partitions_per_broker * static_cast<int>(look_.brokers.size())},
                  {"replication_factor", replication_factor(spec_, look_.brokers.size())},
                  {"config", topic_settings(spec_, look_.brokers.size())}}},
                {"client", client},
                {"strategy", spec_.strategy}}
        .dump();
}

void SweepRunner::finish(const tl::expected<void, Error>& outcome, const std::stop_token& stop) {
    const auto failed =
        std::count_if(points_.begin(), points_.end(), [](const auto& p) { return p.state == "failed"; });
    if (stop.stop_requested() && tools_.shutting_down) {
        sweep_.state = "failed";
        sweep_.state_reason = "the controller was stopped while the sweep ran; what had finished is kept";
    } else if (stop.stop_requested()) {
        sweep_.state = "cancelled";
        sweep_.state_reason = "cancelled";
    } else if (!outcome) {
        sweep_.state = "failed";
        sweep_.state_reason = outcome.error().message;
    } else if (failed > 0) {
        sweep_.state = "failed";
        sweep_.state_reason =
            fmt::format("{} of {} points failed; see each point's reason", failed, points_.size());
    } else {
        sweep_.state = "succeeded";
        sweep_.state_reason.clear();
    }
    sweep_.finished_at_ms = tools_.clock.unix_ms();
    spdlog::info("event=sweep_ended sweep={} state={} reason=\"{}\"", sweep_.id, sweep_.state,
                 sweep_.state_reason);
    for (auto& point : points_) {
        if (point.state != "running" && point.state != "pending") continue;
        point.state = "failed";
        point.flags = "failed";
        point.state_reason = "the sweep ended first: " + sweep_.state_reason;
        if (auto stored = tools_.store.update_point(point); !stored) {
            spdlog::error("event=point_not_stored sweep={} error=\"{}\"", sweep_.id, stored.error().message);
        }
    }
    if (auto stored = tools_.store.update_sweep(sweep_); !stored) {
        spdlog::error("event=sweep_end_not_stored sweep={} error=\"{}\"", sweep_.id, stored.error().message);
    }
}

}  // namespace brink

#include "daemon/sweep/trial_runner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>

#include "daemon/sweep/topic_look.hpp"
#include "daemon/sweep/window_signals.hpp"
#include "search/first_crossing.hpp"

namespace brink {
namespace {

/// Long enough for every agent to have received the order before the first of them sends.
constexpr std::chrono::milliseconds kStartDelay{500};
/// How long the load is held after the window, so that late acknowledgements of its last second can arrive.
constexpr double kTail_s = 1.0;
/// The first look comes sooner: where all has been acknowledged by then, nothing is late.
constexpr double kFirstLook_s = 0.25;
/// How much longer to hold it while deliveries are all that speaks against `sustained`.
constexpr int kExtraTails = 4;
constexpr int kSilentLooks = 2;
/// How long a look at the topic may take; both happen without load.
constexpr std::chrono::milliseconds kLookDeadline{10'000};
/// Of our load that may be early: when an agent really began is known to a fraction of a second.
constexpr double kStartSlack_s = 1.0;
/// How often a source whose samples come late is asked for the last ones of a window.
constexpr double kLateLook_s = 0.5;
/// A task ends by itself this long after its planned end, should nobody stop it.
constexpr double kDeadlineSlack_s = 30;

AgentWindow agent_window(const fleet::AgentReport& answer, std::int64_t first, std::int64_t last) {
    AgentWindow window{.agent = answer.agent};
    if (!answer.report) {
        window.lost = true;
        return window;
    }
    const auto totals = fleet::totals_between(*answer.report, first, last);
    window.scheduled = static_cast<double>(totals.scheduled);
    window.acked = static_cast<double>(totals.acked);
    window.failed = static_cast<double>(totals.failed);
    window.throttled_s = totals.throttled_ms / 1'000;
    window.producer_s = static_cast<double>(answer.producers) * totals.seconds;
    window.throttled_answers = static_cast<double>(totals.throttled_answers);
    window.longest_throttle_ms = totals.longest_throttle_ms;
    window.answer_ms = totals.answer_ms;
    window.lost = totals.seconds < last - first;
    window.saturation = fleet::saturation_of(*answer.report, totals);
    for (const auto& error : answer.report->errors) window.error_codes.push_back(error.code);
    if (!answer.report->errors.empty()) {
        const auto& e = answer.report->errors.front();
        window.first_error = e.code + " (" + e.message + ")";
    }
    return window;
}

/// Reports that contradict themselves are worth nothing.
std::optional<std::string> contradiction_in(const fleet::AgentReport& answer) {
    if (!answer.report) return std::nullopt;
    for (const auto& s : answer.report->seconds) {
        if (s.acked + s.failed > s.sent) {
            return fmt::format("agent {} reports {} acknowledged and {} failed of {} sent in second {}",
                               answer.agent, s.acked, s.failed, s.sent, s.second);
        }
    }
    return std::nullopt;
}

bool only_delivery_speaks_against(const Verdict& verdict) {
    const bool otherwise = verdict.published != VerdictKind::sustained || verdict.limited_by == "quota";
    return !otherwise && verdict.kind != VerdictKind::sustained;
}

bool all_acknowledged(const std::vector<AgentWindow>& agents) {
    return std::all_of(agents.begin(), agents.end(), [](const AgentWindow& agent) {
        return !agent.lost && agent.acked >= agent.scheduled;
    });
}

/// An agent whose clients' queues are full, as they are under overload, closes its books on a second late.
bool still_sending(const std::vector<fleet::AgentReport>& answers, std::int64_t last_second) {
    return std::any_of(answers.begin(), answers.end(), [&](const fleet::AgentReport& answer) {
        return answer.report && answer.report->state == protocol::TaskState::running &&
               (answer.report->seconds.empty() || answer.report->seconds.back().second + 1 < last_second);
    });
}

}  // namespace

/// The measuring window: whole seconds of the agents' schedule, so that both sides mean the same messages.
struct TrialRunner::Window {
    std::int64_t first_second = 0;
    std::int64_t last_second = 0;
    double from_s = 0;
    double to_s = 0;
};

TrialResult TrialRunner::run(const TrialOrder& order, const std::vector<RestReading>& rest,
                             const std::stop_token& stop) {
    TrialResult result;
    TrialWindow window;
    window.scrape_interval_s = order.scrape_interval_s;
    Observation seen(metrics_.broker_ids());
    next_second_ = 0;
    silent_looks_ = 0;
    traffic_before_.reset();
    guard_.reset();
    auto load = order.load;
    load.deadline_s = order.warm_up_s + order.measure_s + kTail_s * (kExtraTails + 1) + kDeadlineSlack_s +
                      metrics_.late_by_s();

    board_.change([](Progress& p) { p.phase = "preparing", p.phase_ends_at_s = 0; });
    const auto topic_before = cluster_.partitions(order.load.topic, kLookDeadline);
    window.leaders_equal =
        topic_before && !unequal_leaders(*topic_before, metrics_.broker_ids().size()).has_value();
    if (auto prepared = fleet_.prepare(order.id, load); !prepared)
        window.voided.push_back(prepared.error().message);
    Window at;
    if (window.voided.empty()) {
        const double started = clock_.now_s() + std::chrono::duration<double>(kStartDelay).count();
        if (auto begun = fleet_.start(kStartDelay); !begun) window.voided.push_back(begun.error().message);
        load_since_s_ = started;
        at.first_second = static_cast<std::int64_t>(std::ceil(order.warm_up_s));
        at.last_second = at.first_second + static_cast<std::int64_t>(std::floor(order.measure_s));
        at.from_s = started + static_cast<double>(at.first_second);
        at.to_s = started + static_cast<double>(at.last_second);
    }
    board_.change([&](Progress& p) { p.phase = "warming_up", p.phase_ends_at_s = at.from_s; });
    observe(order, at.from_s, seen, window.voided, stop);
    board_.change([&](Progress& p) { p.phase = "measuring", p.phase_ends_at_s = at.to_s; });
    observe(order, at.to_s, seen, window.voided, stop);
    await_late_samples(order, at.to_s, seen, window.voided, stop);
    if (!window.voided.empty()) fleet_.stop();
    result.guard = guard_;

    window.from_s = at.from_s;
    window.to_s = at.to_s;
    for (int tail = 0; tail <= kExtraTails + 1; ++tail) {
        const double look_at = at.to_s + (tail == 0 ? kFirstLook_s : kTail_s * tail);
        if (window.voided.empty() && !clock_.wait_until(look_at, stop)) {
            window.voided.emplace_back("cancelled");
        }
        result.reports = fleet_.reports(at.first_second);
        window.brokers = seen.between(at.from_s, at.to_s);
        window.agents.clear();
        for (const auto& answer : result.reports) {
            window.agents.push_back(agent_window(answer, at.first_second, at.last_second));
            if (auto fault = contradiction_in(answer)) window.voided.push_back(*fault);
        }
        result.verdict = judge(window, rest, order.rules);
        const bool complete = tail > 0 || !window.voided.empty() || all_acknowledged(window.agents);
        if (complete && !only_delivery_speaks_against(result.verdict) &&
            !still_sending(result.reports, at.last_second))
            break;
    }
    fleet_.stop();
    fleet_.remove();
    if (window.voided.empty()) {
        // Without load, so that an overloaded cluster can answer as well.
        window.topic_faults =
            topic_faults(topic_before, cluster_.partitions(order.load.topic, kLookDeadline));
        if (!window.topic_faults.empty()) result.verdict = judge(window, rest, order.rules);
    }

    result.scrapes = seen.all();
    result.from_s = at.from_s;
    result.to_s = at.to_s;
    for (const auto& answer : result.reports) {
        if (!answer.report) continue;
        const auto totals = fleet::totals_between(*answer.report, at.first_second, at.last_second);
        result.totals.scheduled += totals.scheduled;
        result.totals.acked += totals.acked;
        fleet::merge(result.totals.latency, totals.latency);
    }
    const double seconds = std::max(1.0, at.to_s - at.from_s);
    result.offered_msgs_per_s = static_cast<double>(result.totals.scheduled) / seconds;
    result.acked_msgs_per_s = static_cast<double>(result.totals.acked) / seconds;
    result.p50_ms = fleet::quantile_ms(result.totals.latency, 0.50);
    result.p99_ms = fleet::quantile_ms(result.totals.latency, 0.99);
    result.signals = gauges_between(result.scrapes, at.from_s, at.to_s, signal_marks(order.rules));
    if (result.verdict.worst_idle) result.signals["io_idle"] = *result.verdict.worst_idle;
    if (result.verdict.isr_churn) result.signals["isr_churn"] = *result.verdict.isr_churn;
    if (result.totals.scheduled > 0)
        result.signals["delivery"] =
            static_cast<double>(result.totals.acked) / static_cast<double>(result.totals.scheduled);
    if (result.p99_ms) result.signals["p99_ms"] = *result.p99_ms;
    for (const auto& broker : result.verdict.brokers) result.broker_in_bytes_per_s += broker.bytes_in_per_s;
    return result;
}

void TrialRunner::observe(const TrialOrder& order, double until, Observation& seen,
                          std::vector<std::string>& voided, const std::stop_token& stop) {
    const double from = clock_.now_s();
    // The last scrape is due a little before the end, so that it lies inside the window.
    const double last_due = until - std::min(0.1, order.scrape_interval_s / 4);
    double due = from;
    while (voided.empty() && clock_.now_s() < last_due) {
        if (!clock_.wait_until(std::min(due, last_due), stop)) {
            voided.emplace_back("cancelled");
            return;
        }
        seen.scrape(metrics_, clock_, order.scrape_timeout);
        keep_guard(order, seen, voided);
        if (!voided.empty()) return;
        look_after_agents(voided);
        show(seen, from, order);
        due = std::max(due + order.scrape_interval_s, clock_.now_s());
    }
    if (voided.empty() && !clock_.wait_until(until, stop)) voided.emplace_back("cancelled");
}

void TrialRunner::keep_guard(const TrialOrder& order, const Observation& seen,
                             std::vector<std::string>& voided) {
    const auto readings = seen.latest();
    guard_ = guard_on(order.guards, readings);
    const auto traffic =
        readings.size() == metrics_.broker_ids().size() ? traffic_of(readings) : std::nullopt;
    if (!traffic_before_) traffic_before_ = traffic;
    if (!guard_ && traffic) {
        const double seconds = std::max(0.0, clock_.now_s() - load_since_s_);
        const OwnTraffic own{order.load.producers * order.load.rate_each * (seconds + kStartSlack_s),
                             order.load.message_bytes};
        guard_ = foreign_guard(foreign_bytes(*traffic_before_, *traffic, own), seconds, own,
                               order.foreign_bytes_per_s_above);
    }
    if (!guard_) return;
    fleet_.stop();
    voided.push_back("a guard stopped the load: " + guard_->reason);
}

void TrialRunner::await_late_samples(const TrialOrder& order, double to_s, Observation& seen,
                                     std::vector<std::string>& voided, const std::stop_token& stop) {
    const double patience_s = metrics_.late_by_s();
    if (patience_s <= 0) return;
    while (voided.empty()) {
        const double now_s = clock_.now_s();
        seen.scrape(metrics_, clock_, order.scrape_timeout);
        keep_guard(order, seen, voided);
        if (!voided.empty()) return;
        // Samples of a broker come in their order: one from after the window says that all within it are
        // there.
        const auto behind = seen.without_reading_from(to_s);
        if (behind.empty()) return;
        if (now_s >= to_s + patience_s) {
            voided.push_back(
                fmt::format("no sample from after the window came within {:.0f} s of broker {}: what it "
                            "showed at the window's end is not known",
                            patience_s, fmt::join(behind, ", ")));
            return;
        }
        if (!clock_.wait_until(now_s + kLateLook_s, stop)) voided.emplace_back("cancelled");
    }
}

void TrialRunner::look_after_agents(std::vector<std::string>& voided) {
    double acked = 0;
    double cpu = 0;
    bool silent = false;
    std::string why;
    std::int64_t newest = next_second_;
    for (const auto& answer : fleet_.reports(next_second_)) {
        if (!answer.report) {
            silent = true;
            why = answer.report.error().message;
            continue;
        }
        const auto& report = *answer.report;
        if (report.state == protocol::TaskState::failed || report.state == protocol::TaskState::stopped) {
            voided.push_back(
                fmt::format("the task on agent {} ended by itself: {}", answer.agent, report.state_reason));
        }
        cpu = std::max(cpu, report.load.cpu_share);
        for (const auto& s : report.seconds) newest = std::max(newest, s.second);
        if (!report.seconds.empty()) acked += static_cast<double>(report.seconds.front().acked);
    }
    // One missed answer may be a hiccup; an agent that stays silent is lost.
    silent_looks_ = silent ? silent_looks_ + 1 : 0;
    if (silent_looks_ > kSilentLooks) voided.push_back("an agent was lost: " + why);
    next_second_ = newest;
    board_.change([&](Progress& p) { p.acked_msgs_per_s = acked, p.agent_cpu = cpu; });
}

void TrialRunner::show(const Observation& seen, double from, const TrialOrder& order) {
    const auto windows = seen.between(from, clock_.now_s());
    std::optional<double> worst;
    int broker = -1;
    for (const auto& window : windows) {
        const auto idle = idle_over(window);
        if (idle && (!worst || *idle < *worst)) worst = idle, broker = window.broker_id;
    }
    const auto churn = isr_churn_over(windows, from, clock_.now_s(), order.rules.sub_window_s);
    board_.change([&](Progress& p) {
        p.worst_idle = worst;
        p.worst_broker = worst ? std::optional(broker) : std::nullopt;
        p.isr_churn = churn;
    });
}

}  // namespace brink

#include "daemon/sweep/trial_runner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "daemon/sweep/agent_window.hpp"
#include "daemon/sweep/topic_look.hpp"
#include "daemon/sweep/trial_figures.hpp"
#include "search/early_look.hpp"

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
/// The agents' newest seconds still wait for acknowledgements when a look is taken.
constexpr double kUnsettled_s = 2;

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

    void end_at(std::int64_t second) {
        to_s += static_cast<double>(second - last_second);
        last_second = second;
    }
};

TrialResult TrialRunner::run(const TrialOrder& order, const std::vector<RestReading>& rest,
                             const std::stop_token& stop) {
    TrialResult result;
    TrialWindow window;
    window.scrape_interval_s = order.scrape_interval_s;
    Observation seen(metrics_.broker_ids());
    next_second_ = 0;
    silent_looks_ = 0;
    samples_seen_ = 0;
    traffic_before_.reset();
    guard_.reset();
    auto load = order.load;
    load.deadline_s = order.warm_up_s + order.measure_s + kTail_s * (kExtraTails + 1) + kDeadlineSlack_s +
                      metrics_.late_by_s() +
                      order.max_extensions * (extension_s(order.scrape_interval_s) + metrics_.late_by_s());

    board_.change([](Progress& p) { p.phase = "preparing", p.phase_ends_at_s = 0; });
    const auto topic_before = cluster_.partitions(order.load.topic, kLookDeadline);
    window.leaders_equal =
        topic_before && !unequal_leaders(*topic_before, metrics_.broker_ids().size()).has_value();
    if (topic_before) window.partitions = static_cast<int>(topic_before->size());
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
    measure(order, rest, at, seen, result, window, stop);
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
        window.waits_ms = waits_between(result.reports, at.first_second, at.last_second, at.from_s);
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

    if (undecided(result.verdict)) result.verdict.flags.emplace_back(kUndecided);

    result.scrapes = seen.all();
    result.from_s = at.from_s;
    result.to_s = at.to_s;
    fill_figures(result, at.first_second, at.last_second, order.rules);
    return result;
}

void TrialRunner::measure(const TrialOrder& order, const std::vector<RestReading>& rest, Window& at,
                          Observation& seen, TrialResult& result, TrialWindow& window,
                          const std::stop_token& stop) {
    const auto until = [&](double to_s) {
        TrialWindow so_far = window;
        so_far.from_s = at.from_s;
        so_far.to_s = to_s;
        so_far.brokers = seen.between(at.from_s, to_s);
        return so_far;
    };
    const auto go_on = [&](const std::function<bool()>& enough = {}) {
        board_.change([&](Progress& p) { p.phase = "measuring", p.phase_ends_at_s = at.to_s; });
        if (observe(order, at.to_s, seen, window.voided, stop, enough)) {
            const double left_s = std::floor(at.to_s - clock_.now_s());
            result.ended_early = left_s >= 1;
            at.end_at(at.last_second - static_cast<std::int64_t>(std::max(0.0, left_s)));
            if (!clock_.wait_until(at.to_s, stop)) window.voided.emplace_back("cancelled");
        }
        await_late_samples(order, at.to_s, seen, window.voided, stop);
    };
    go_on([&] { return order.early_end && enough_seen(until(clock_.now_s()), rest, order.rules, at); });
    while (result.extensions < order.max_extensions && window.voided.empty() &&
           undecided(judge(until(at.to_s), rest, order.rules))) {
        ++result.extensions;
        at.end_at(at.last_second + static_cast<std::int64_t>(extension_s(order.scrape_interval_s)));
        go_on();
    }
}

bool TrialRunner::enough_seen(TrialWindow so_far, const std::vector<RestReading>& rest,
                              const JudgeRules& rules, const Window& at) {
    const int before = std::exchange(samples_seen_, fewest_samples(so_far));
    if (!look_is_due(before, samples_seen_)) return false;
    // Where samples come late, the window reaches only as far as every broker's do.
    for (const auto& broker : so_far.brokers) so_far.to_s = std::min(so_far.to_s, broker.samples.back().at_s);
    const auto settled =
        at.first_second + static_cast<std::int64_t>(so_far.to_s - so_far.from_s - kUnsettled_s);
    so_far.waits_ms = waits_between(fleet_.reports(at.first_second), at.first_second, settled, at.from_s);
    return look_at(so_far, rest, rules) != Look::go_on;
}

bool TrialRunner::observe(const TrialOrder& order, double until, Observation& seen,
                          std::vector<std::string>& voided, const std::stop_token& stop,
                          const std::function<bool()>& enough) {
    const double from = clock_.now_s();
    // The last scrape is due a little before the end, so that it lies inside the window.
    const double last_due = until - std::min(0.1, order.scrape_interval_s / 4);
    double due = from;
    while (voided.empty() && clock_.now_s() < last_due) {
        if (!clock_.wait_until(std::min(due, last_due), stop)) {
            voided.emplace_back("cancelled");
            return false;
        }
        seen.scrape(metrics_, clock_, order.scrape_timeout);
        keep_guard(order, seen, voided);
        if (!voided.empty()) return false;
        look_after_agents(voided);
        show(seen, from, order);
        if (voided.empty() && enough && enough()) return true;
        due = std::max(due + order.scrape_interval_s, clock_.now_s());
    }
    if (voided.empty() && !clock_.wait_until(until, stop)) voided.emplace_back("cancelled");
    return false;
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

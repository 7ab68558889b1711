#include "search/load_evidence.hpp"

#include <algorithm>
#include <cmath>

namespace brink {
namespace {

constexpr int kMostTrials = 3;
/// Of the half-width at 95 %: about 0.7 standard deviations, beyond which a second reading of three would
/// agree.
constexpr double kDoubtful = 0.35;

int count(const std::vector<TrialOutcome>& trials, VerdictKind kind) {
    return static_cast<int>(
        std::count_if(trials.begin(), trials.end(), [&](const auto& t) { return t.verdict == kind; }));
}

}  // namespace

LoadEvidence weigh(const std::vector<TrialOutcome>& trials, double io_idle_below) {
    LoadEvidence evidence;
    evidence.trials = static_cast<int>(trials.size());
    if (trials.empty()) return evidence;
    const int over = count(trials, VerdictKind::overloaded);
    const int good = count(trials, VerdictKind::sustained);
    const int short_of_agents = count(trials, VerdictKind::generator_limited);
    double sum = 0;
    double uncertainty = 0;
    bool all_read = true;
    for (const auto& trial : trials) {
        all_read = all_read && trial.worst_idle.has_value();
        sum += trial.worst_idle.value_or(0);
        uncertainty += trial.idle_uncertainty;
        evidence.decided_by_idle = evidence.decided_by_idle && trial.decided_by_idle;
    }
    const double n = evidence.trials;
    if (all_read) evidence.idle = sum / n;
    const bool enough = evidence.trials >= kMostTrials;
    if (short_of_agents > 0 && short_of_agents >= over && short_of_agents >= good) {
        evidence.kind = VerdictKind::generator_limited;
        evidence.stands = true;
        return evidence;
    }
    const bool by_mean = all_read && evidence.decided_by_idle && short_of_agents == 0;
    if (by_mean) {
        evidence.kind = *evidence.idle < io_idle_below ? VerdictKind::overloaded : VerdictKind::sustained;
        const double doubt = kDoubtful * uncertainty / n / std::sqrt(n);
        evidence.stands = enough || std::abs(*evidence.idle - io_idle_below) >= doubt;
        // The search must never report a load as something that no trial saw.
        const bool seen = (evidence.kind == VerdictKind::overloaded ? over : good) > 0;
        if (seen) return evidence;
    }
    evidence.kind = over >= good ? VerdictKind::overloaded : VerdictKind::sustained;
    // A single firing of churn or delivery may be a passing event; so may a split vote.
    const bool doubtful = over == good || (over > 0 && !evidence.decided_by_idle && over < 2);
    evidence.stands = enough || !doubtful;
    return evidence;
}

std::map<int, LoadEvidence> weigh_all(const std::vector<TrialOutcome>& trials, double io_idle_below) {
    std::map<int, std::vector<TrialOutcome>> by_load;
    for (const auto& trial : trials) {
        if (trial.verdict != VerdictKind::invalid) by_load[trial.producers.value].push_back(trial);
    }
    std::map<int, LoadEvidence> evidence;
    for (const auto& [load, seen] : by_load) evidence[load] = weigh(seen, io_idle_below);
    return evidence;
}

}  // namespace brink

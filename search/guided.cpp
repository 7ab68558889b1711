#include "search/guided.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "search/utilisation.hpp"

namespace brink {
namespace {

/// The first load is this much of what is expected, so that it is likely to be below the boundary and yet
/// near.
constexpr double kFirstShare = 0.8;
/// A reading less busy than this tells roughly where the boundary is; the next load then goes only so far.
constexpr double kRoughBusy = 0.35;
constexpr double kRoughShare = 0.8;
/// Part of the margin by which the lower end is put below the prediction: a little less than half of it.
constexpr double kBelow = 0.45;
/// A prediction this far outside the bracket is not believed.
constexpr double kOutside = 1.1;

std::string text(double value, int digits) {
    std::string out = std::to_string(std::round(value * std::pow(10, digits)) / std::pow(10, digits));
    out.erase(out.find('.') + 1 + static_cast<std::size_t>(digits));
    if (digits == 0) out.pop_back();
    return out;
}

std::string prediction_text(const Prediction& p) {
    return "busy is expected to reach the threshold at " + text(p.producers, 1) +
           " producers (nearest reading " + text(p.nearest_busy * 100, 0) + " % busy)";
}

}  // namespace

int Guided::highest() const { return settings_.max ? settings_.max->value : settings_.ceiling.value; }

int Guided::closing_step(int lower) const {
    // The largest d with d ≤ margin × (lower + d), and 1 at least.
    const double widest = settings_.margin * lower / (1 - settings_.margin);
    return std::max(1, static_cast<int>(std::floor(widest + 1e-9)));
}

Guided::Bracket Guided::bracket_of(const Evidence& evidence) {
    Bracket bracket;
    for (const auto& [load, seen] : evidence) {
        if (seen.kind == VerdictKind::overloaded && !bracket.upper) bracket.upper = load;
        const bool below = !bracket.upper || load < *bracket.upper;
        if (seen.kind == VerdictKind::generator_limited && below && !bracket.agents) bracket.agents = load;
    }
    for (const auto& [load, seen] : evidence) {
        if (seen.kind == VerdictKind::sustained && load < bracket.upper.value_or(load + 1))
            bracket.lower = load;
    }
    // What the agents could give after all is no limit of theirs.
    if (bracket.agents && *bracket.agents <= bracket.lower) {
        bracket.agents.reset();
        for (const auto& [load, seen] : evidence) {
            const bool between = load > bracket.lower && load < bracket.upper.value_or(load + 1);
            if (seen.kind == VerdictKind::generator_limited && between && !bracket.agents)
                bracket.agents = load;
        }
    }
    return bracket;
}

SearchStep Guided::next() const {
    const auto invalid = std::count_if(trials_.begin(), trials_.end(), [](const TrialOutcome& t) {
        return t.verdict == VerdictKind::invalid;
    });
    if (invalid > settings_.invalid_retries) {
        const auto& last = *std::find_if(trials_.rbegin(), trials_.rend(), [](const TrialOutcome& t) {
            return t.verdict == VerdictKind::invalid;
        });
        return PointFailed{std::to_string(invalid) +
                           " trials of this point were invalid, the last because: " +
                           (last.reason.empty() ? "no reason was given" : last.reason)};
    }
    const auto evidence = weigh_all(trials_, settings_.io_idle_below);
    const auto bracket = bracket_of(evidence);
    if (auto again = repeat(evidence, bracket)) return *again;
    const auto top = bracket.top();
    if (!top) return raise(evidence, bracket);
    if (*top - bracket.lower <= std::max(1.0, settings_.margin * *top)) return done(evidence, bracket);
    return narrow(evidence, bracket);
}

std::optional<SearchStep> Guided::repeat(const Evidence& evidence, const Bracket& bracket) const {
    const auto doubtful = [&](int load) {
        const auto at = evidence.find(load);
        return at != evidence.end() && !at->second.stands;
    };
    // A sustained load above an overloaded one: one of the two readings was wrong, so both are taken again.
    if (bracket.upper) {
        const auto above =
            std::find_if(evidence.upper_bound(*bracket.upper), evidence.end(),
                         [](const auto& e) { return e.second.kind == VerdictKind::sustained; });
        if (above != evidence.end()) {
            for (const int load : {*bracket.upper, above->first}) {
                if (evidence.at(load).trials < 2)
                    return attempt(load, std::to_string(above->first) + " producers were sustained and " +
                                             std::to_string(*bracket.upper) + " were not: both again");
            }
        }
    }
    const auto top = bracket.top();
    const bool closed = top && *top - bracket.lower <= std::max(1.0, settings_.margin * *top);
    if (!closed) return std::nullopt;
    for (const int load : {bracket.lower, bracket.upper.value_or(0)}) {
        if (doubtful(load))
            return attempt(load, "the reading at " + std::to_string(load) +
                                     " producers was too near the threshold to stand alone: again");
    }
    return std::nullopt;
}

SearchStep Guided::raise(const Evidence& evidence, const Bracket& bracket) const {
    const int low = bracket.lower;
    if (low >= highest()) return done(evidence, bracket);
    if (low == 0) {
        const double expected = std::min<double>(settings_.hint.value * kFirstShare, highest());
        return attempt(static_cast<int>(std::round(expected)),
                       "first load: 80 % of the " + std::to_string(settings_.hint.value) +
                           " producers that are expected to be the boundary");
    }
    const auto prediction = predict_boundary(evidence, settings_.io_idle_below);
    if (!prediction) return attempt(2 * low, std::to_string(low) + " producers hardly loaded it: doubled");
    double aim = prediction->producers * (1 - kBelow * settings_.margin);
    if (prediction->nearest_busy < kRoughBusy)
        aim = std::max<double>(low + 1, prediction->producers * kRoughShare);
    if (std::floor(aim) > low)
        return attempt(static_cast<int>(std::floor(aim)), prediction_text(*prediction));
    // The prediction is reached: the smallest step that closes the bracket, twice as far each time it is
    // sustained.
    const auto beyond = std::count_if(evidence.begin(), evidence.end(), [&](const auto& e) {
        return e.second.kind == VerdictKind::sustained && e.first >= aim;
    });
    const auto doublings = std::min<std::ptrdiff_t>(std::max<std::ptrdiff_t>(beyond - 1, 0), 20);
    const double step = closing_step(low) * std::exp2(static_cast<double>(doublings));
    return attempt(static_cast<int>(std::min<double>(low + step, highest())),
                   prediction_text(*prediction) + ": just above it");
}

SearchStep Guided::narrow(const Evidence& evidence, const Bracket& bracket) const {
    const int low = bracket.lower;
    const int top = *bracket.top();
    if (predictions_fail()) return middle(bracket, "two loads did not halve the bracket");
    const auto prediction = predict_boundary(evidence, settings_.io_idle_below);
    if (!prediction) return middle(bracket, "no reading tells how busy the brokers get");
    const bool outside = prediction->producers > top * kOutside || prediction->producers * kOutside < low;
    if (outside) return middle(bracket, prediction_text(*prediction) + ", which the verdicts contradict");
    // The highest lower end that still closes the bracket, and the lowest upper end that does.
    const int close_below = top - std::max(1, static_cast<int>(std::floor(settings_.margin * top)));
    const int close_above = low + closing_step(low);
    const int aim = static_cast<int>(std::floor(prediction->producers * (1 - kBelow * settings_.margin)));
    const bool near = close_above >= prediction->producers;
    int load = aim > low && !near ? std::min(aim, std::max(close_below, low + 1)) : close_above;
    load = std::clamp(load, low + 1, top - 1);
    return attempt(load, prediction_text(*prediction));
}

SearchStep Guided::middle(const Bracket& bracket, const std::string& because) const {
    const int low = bracket.lower;
    const int top = *bracket.top();
    const bool wide = low > 0 && top > 2 * low;
    const int between = wide ? static_cast<int>(std::round(std::sqrt(static_cast<double>(low) * top)))
                             : low + (top - low) / 2;
    return attempt(std::clamp(between, low + 1, top - 1),
                   "midpoint of " + std::to_string(low) + " and " + std::to_string(top) + ": " + because);
}

bool Guided::predictions_fail() const {
    std::vector<TrialOutcome> so_far;
    std::set<int> loads;
    double reference = 0;
    int steps = 0;
    for (const auto& trial : trials_) {
        so_far.push_back(trial);
        if (trial.verdict == VerdictKind::invalid || !loads.insert(trial.producers.value).second) continue;
        const auto bracket = bracket_of(weigh_all(so_far, settings_.io_idle_below));
        if (!bracket.top()) continue;
        const double width = *bracket.top() - bracket.lower;
        if (reference == 0 || width <= reference / 2) {
            reference = width;
            steps = 0;
        } else {
            ++steps;
        }
    }
    return steps >= 2;
}

PointDone Guided::done(const Evidence& evidence, const Bracket& bracket) const {
    PointDone result;
    if (bracket.lower > 0) result.lower = ProducerCount{bracket.lower};
    if (bracket.upper) result.upper = ProducerCount{*bracket.upper};
    if (bracket.agents) result.flags.emplace_back("generator_limited");
    if (!bracket.upper && bracket.lower > 0) result.flags.emplace_back("at_least");
    if (bracket.upper && bracket.lower == 0) result.flags.emplace_back("below_one");
    const bool contradiction =
        bracket.upper && std::any_of(evidence.upper_bound(*bracket.upper), evidence.end(),
                                     [](const auto& e) { return e.second.kind == VerdictKind::sustained; });
    if (contradiction) result.flags.emplace_back("irregular");
    return result;
}

TryLoad Guided::attempt(int producers, const std::string& why) const {
    const int bounded = std::clamp(producers, 1, highest());
    if (!trials_.empty() && trials_.back().verdict == VerdictKind::invalid) {
        const auto& reason = trials_.back().reason;
        return TryLoad{ProducerCount{bounded}, "again, since the last trial was invalid (" +
                                                   (reason.empty() ? "no reason was given" : reason) + "); " +
                                                   why};
    }
    return TryLoad{ProducerCount{bounded}, why};
}

}  // namespace brink

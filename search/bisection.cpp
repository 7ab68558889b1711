#include "search/bisection.hpp"

#include <algorithm>
#include <utility>

namespace brink {

void Bisection::record(const TrialOutcome& outcome) {
    const int n = outcome.producers.value;
    if (outcome.verdict != VerdictKind::invalid) last_invalid_.clear();
    switch (outcome.verdict) {
        case VerdictKind::sustained:
            sustained_.push_back(n);
            break;
        case VerdictKind::overloaded:
            upper_ = std::min(upper_.value_or(n), n);
            break;
        case VerdictKind::generator_limited:
            generator_top_ = std::min(generator_top_.value_or(n), n);
            break;
        case VerdictKind::invalid:
            ++invalid_;
            last_invalid_ = outcome.reason.empty() ? "no reason was given" : outcome.reason;
            break;
    }
}

int Bisection::lower() const {
    int best = 0;
    for (int n : sustained_) {
        if (!upper_ || n < *upper_) best = std::max(best, n);
    }
    return best;
}

SearchStep Bisection::next() const {
    if (invalid_ > settings_.invalid_retries) {
        return PointFailed{std::to_string(invalid_) +
                           " trials of this point were invalid, the last because: " + last_invalid_};
    }
    // The lowest known top closes the window, be it an overload or what the agents could not give.
    const int low = lower();
    if (generator_top_ && *generator_top_ < upper_.value_or(*generator_top_ + 1)) {
        return *generator_top_ > low ? close(*generator_top_) : done();
    }
    if (upper_) return close(*upper_);
    if (settings_.max) return close(settings_.max->value);
    return raise_top();
}

SearchStep Bisection::raise_top() const {
    const int low = lower();
    if (low == 0)
        return attempt(std::min(settings_.hint.value, settings_.ceiling.value), "first guess at the top");
    if (low >= settings_.ceiling.value) return done();
    const int doubled = low > settings_.ceiling.value / 2 ? settings_.ceiling.value : low * 2;
    return attempt(doubled, std::to_string(low) + " producers were sustained: doubled to find the top");
}

SearchStep Bisection::close(int top) const {
    const int low = lower();
    if (low >= top) return done();
    if (top - low <= std::max(1.0, settings_.margin * top)) {
        // A given maximum is only an upper end once it has been seen to overload.
        const bool seen = upper_.has_value() || generator_top_.has_value();
        if (!seen) return attempt(top, "the given maximum was not yet tried");
        return done();
    }
    const int middle = low + (top - low) / 2;
    return attempt(middle, "midpoint of " + std::to_string(low) + " and " + std::to_string(top));
}

PointDone Bisection::done() const {
    PointDone result;
    const int low = lower();
    if (low > 0) result.lower = ProducerCount{low};
    if (upper_) result.upper = ProducerCount{*upper_};
    if (generator_top_ && *generator_top_ < upper_.value_or(*generator_top_ + 1))
        result.flags.emplace_back("generator_limited");
    if (!upper_ && low > 0) result.flags.emplace_back("at_least");
    if (upper_ && low == 0) result.flags.emplace_back("below_one");
    const bool contradiction =
        upper_ && std::any_of(sustained_.begin(), sustained_.end(), [&](int n) { return n >= *upper_; });
    if (contradiction) result.flags.emplace_back("irregular");
    return result;
}

TryLoad Bisection::attempt(int producers, std::string why) const {
    if (!last_invalid_.empty())
        why = "again, since the last trial was invalid (" + last_invalid_ + "); " + why;
    return TryLoad{ProducerCount{producers}, std::move(why)};
}

}  // namespace brink

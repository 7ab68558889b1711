#pragma once
#include "config/sweep_spec.hpp"

namespace brink {

/// How long a sweep will take, by arithmetic alone.
struct Plan {
    int points = 0;
    int trials_expected = 0;
    int trials_worst = 0;
    double minutes_expected = 0;
    double minutes_worst = 0;
};

/// Trials of a bisection: enough to close a window of 100 producers to the margin, one more for its top;
/// about four for `guided`;
/// worst: the window has to be doubled four times first, every retry of an invalid trial is used, and every
/// window goes on for as long as it may. Pure.
Plan plan_of(const SweepSpec& spec, int invalid_retries = 3);

/// Seconds one trial takes from rest to rest, when nothing goes wrong.
double trial_seconds(const SweepSpec& spec);

}  // namespace brink

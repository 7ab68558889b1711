#pragma once
#include <string>
#include <vector>

#include "tests/bench/search_world.hpp"

namespace brink::bench {

/// One strategy in one world, over many seeds.
struct SearchRow {
    std::string strategy;
    std::string shape;
    double noise = 0;
    double mean_trials = 0;
    double p95_trials = 0;
    int max_trials = 0;
    double rms_error = 0;  ///< of the bracket's middle, relative to the true boundary
    double coverage = 0;   ///< share of runs whose truth lies in the bracket, 5 % either way
};

/// Runs `seeds` searches of 200 producers at most, margin 5 %, boundaries drawn from 15 to 190.
SearchRow run_search(const std::string& strategy, Shape shape, double noise, int seeds);

/// Strategies × shapes × noise 0, 0.01, 0.03, 0.06.
std::vector<SearchRow> run_all_searches(const std::vector<std::string>& strategies, int seeds);

}  // namespace brink::bench

#include "tests/bench/search_bench.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "search/boundary_search.hpp"

namespace brink::bench {
namespace {

constexpr int kMost = 200;
constexpr double kMargin = 0.05;
constexpr int kEndless = 500;

struct Run {
    int trials = 0;
    double error = 0;
    bool covered = false;
};

Run run_one(const std::string& strategy, Shape shape, double noise, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const double boundary = std::uniform_real_distribution<double>(15, 190)(random);
    SearchWorld world(shape, boundary, noise, random());
    const auto search = make_search(strategy, {.margin = kMargin, .max = ProducerCount{kMost}});
    if (!search) throw std::invalid_argument("no strategy '" + strategy + "'");
    Run run;
    while (true) {
        const auto step = search->next();
        if (const auto* attempt = std::get_if<TryLoad>(&step)) {
            if (++run.trials > kEndless) throw std::logic_error(strategy + " does not end");
            search->record(world.trial(attempt->producers));
            continue;
        }
        const auto& done = std::get<PointDone>(step);
        const double lower = done.lower ? done.lower->value : 0;
        const double upper = done.upper ? done.upper->value : kMost;
        run.error = ((lower + upper) / 2 - world.boundary()) / world.boundary();
        run.covered = 0.95 * lower <= world.boundary() && world.boundary() <= 1.05 * upper;
        return run;
    }
}

}  // namespace

SearchRow run_search(const std::string& strategy, Shape shape, double noise, int seeds) {
    std::vector<int> trials;
    double squares = 0;
    int covered = 0;
    for (int seed = 0; seed < seeds; ++seed) {
        const auto run = run_one(strategy, shape, noise, static_cast<std::uint64_t>(seed) + 1);
        trials.push_back(run.trials);
        squares += run.error * run.error;
        covered += run.covered ? 1 : 0;
    }
    std::sort(trials.begin(), trials.end());
    SearchRow row;
    row.strategy = strategy;
    row.shape = to_string(shape);
    row.noise = noise;
    row.mean_trials = std::accumulate(trials.begin(), trials.end(), 0.0) / seeds;
    row.p95_trials = trials[static_cast<std::size_t>(0.95 * (seeds - 1))];
    row.max_trials = trials.back();
    row.rms_error = std::sqrt(squares / seeds);
    row.coverage = static_cast<double>(covered) / seeds;
    return row;
}

std::vector<SearchRow> run_all_searches(const std::vector<std::string>& strategies, int seeds) {
    std::vector<SearchRow> rows;
    for (const auto shape : all_shapes()) {
        for (const double noise : {0.0, 0.01, 0.03, 0.06}) {
            for (const auto& strategy : strategies) rows.push_back(run_search(strategy, shape, noise, seeds));
        }
    }
    return rows;
}

}  // namespace brink::bench

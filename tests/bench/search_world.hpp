#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "search/trial.hpp"

namespace brink::bench {

/// How a simulated cluster gets busy, and what goes wrong while it is measured.
enum class Shape { linear, concave, convex, cliff, queueing, isr_lag, drift, false_verdicts };

const std::vector<Shape>& all_shapes();
const char* to_string(Shape shape);

/// A cluster with a known boundary, in producers, that answers trials as real ones do: with noise.
class SearchWorld {
  public:
    /// `boundary` is the highest load (real-valued) with at least 20 % idle, or without churn for `isr_lag`;
    /// `noise` the standard deviation of an idle reading.
    SearchWorld(Shape shape, double boundary, double noise, std::uint64_t seed);

    TrialOutcome trial(ProducerCount producers);
    /// The boundary now: it moves with `drift` only, by 10 % over 20 trials.
    [[nodiscard]] double boundary() const;

  private:
    [[nodiscard]] double busy(double load) const;

    Shape shape_;
    double first_boundary_;
    double noise_;
    int trials_ = 0;
    std::mt19937_64 random_;
};

}  // namespace brink::bench

#pragma once
#include <memory>
#include <string>

#include "storage/rows.hpp"

namespace brink::api {

/// What the controller tells of itself, for `/metrics`: prefix brink_, base units, prometheus-cpp underneath.
/// Thread-safe.
class OwnMetrics {
  public:
    OwnMetrics();
    ~OwnMetrics();
    OwnMetrics(const OwnMetrics&) = delete;
    OwnMetrics& operator=(const OwnMetrics&) = delete;

    void trial_finished(const storage::TrialRow& trial);
    void request_answered(int status);
    void set_sweeps_running(int running);
    /// Prometheus text 0.0.4.
    [[nodiscard]] std::string text() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace brink::api

#include "daemon/api/own_metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "brink_version.hpp"

namespace brink::api {

using prometheus::BuildCounter;
using prometheus::BuildGauge;

struct OwnMetrics::Impl {
    prometheus::Registry registry;
    prometheus::Family<prometheus::Counter>& trials = BuildCounter()
                                                          .Name("brink_trials_total")
                                                          .Help("Trials finished, by verdict and purpose")
                                                          .Register(registry);
    prometheus::Family<prometheus::Counter>& requests = BuildCounter()
                                                            .Name("brink_http_requests_total")
                                                            .Help("Requests answered, by status")
                                                            .Register(registry);
    prometheus::Gauge& running =
        BuildGauge().Name("brink_sweeps_running").Help("Sweeps that run now").Register(registry).Add({});
};

OwnMetrics::OwnMetrics() : impl_(std::make_unique<Impl>()) {
    BuildGauge()
        .Name("brink_build_info")
        .Help("Version of this controller; always 1")
        .Register(impl_->registry)
        .Add({{"version", kVersion}, {"commit", kCommit}})
        .Set(1);
}

OwnMetrics::~OwnMetrics() = default;

void OwnMetrics::trial_finished(const storage::TrialRow& trial) {
    impl_->trials.Add({{"verdict", trial.verdict}, {"purpose", trial.purpose}}).Increment();
}

void OwnMetrics::request_answered(int status) {
    impl_->requests.Add({{"status", std::to_string(status)}}).Increment();
}

void OwnMetrics::set_sweeps_running(int running) { impl_->running.Set(running); }

std::string OwnMetrics::text() const {
    return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace brink::api

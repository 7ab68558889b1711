#include "agents/worker/metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <vector>

#include "brink_version.hpp"

namespace brink::worker {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

MetricFamily family(const char* name, const char* help, MetricType type) {
    MetricFamily out;
    out.name = std::string("brink_agent_") + name;
    out.help = help;
    out.type = type;
    return out;
}

void add(MetricFamily& to, double value, Labels labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    if (to.type == MetricType::Counter)
        metric.counter.value = value;
    else
        metric.gauge.value = value;
    to.metric.push_back(std::move(metric));
}

MetricFamily single(const char* name, const char* help, MetricType type, double value) {
    auto out = family(name, help, type);
    add(out, value);
    return out;
}

}  // namespace

std::string metrics_text(const AgentFigures& figures) {
    std::vector<MetricFamily> families;
    auto build = family("build_info", "Version and commit of this agent; always 1.", MetricType::Gauge);
    add(build, 1, {{"version", kVersion}, {"commit", kCommit}});
    families.push_back(std::move(build));

    auto tasks = family("tasks", "Tasks by state.", MetricType::Gauge);
    for (const auto state :
         {protocol::TaskState::prepared, protocol::TaskState::starting, protocol::TaskState::running,
          protocol::TaskState::stopped, protocol::TaskState::failed}) {
        const auto found = figures.tasks.find(state);
        add(tasks, found == figures.tasks.end() ? 0 : found->second, {{"state", to_string(state)}});
    }
    families.push_back(std::move(tasks));

    const auto counter = [&](const char* name, const char* help, std::uint64_t value) {
        families.push_back(single(name, help, MetricType::Counter, static_cast<double>(value)));
    };
    const auto gauge = [&](const char* name, const char* help, double value) {
        families.push_back(single(name, help, MetricType::Gauge, value));
    };
    counter("messages_sent_total", "Messages handed to the client library.", figures.totals.sent);
    counter("messages_acked_total", "Messages acknowledged.", figures.totals.acked);
    counter("messages_failed_total", "Messages reported as failed, purged ones included.",
            figures.totals.failed);
    counter("lease_expiries_total", "Times that a lease lapsed and all load stopped.",
            figures.lease_expiries);
    gauge("lease_remaining_seconds", "Time left on the controller's lease; 0 without one.",
          figures.lease_remaining_s);
    gauge("epoch", "Highest controller epoch seen.", static_cast<double>(figures.epoch));
    gauge("cpu_share_ratio", "CPU used of what this process may use.", figures.load.cpu_share);
    gauge("cpu_cores", "CPU in use, in cores.", figures.load.process_cpu_cores);
    gauge("resident_memory_bytes", "Resident memory.", figures.load.rss_mb * 1e6);
    gauge("open_fds", "Open file descriptors.", figures.load.open_fds);
    gauge("threads", "Threads.", figures.load.threads);
    return prometheus::TextSerializer().Serialize(families);
}

}  // namespace brink::worker

#include "daemon/api/cluster_check.hpp"

#include "daemon/api/views.hpp"
#include "search/verdict.hpp"

namespace brink::api {
namespace {

using nlohmann::json;

constexpr double kBetweenLooks_s = 2;

json signals_view(const ScrapeReading& reading) {
    json signals = json::object();
    for (const auto& [name, value] : reading.signals) {
        const auto series = reading.series.find(name);
        signals[name] = {{"series", series == reading.series.end() ? json() : json(series->second)},
                         {"value", value}};
    }
    return signals;
}

json broker_view(const BrokerCheck& first, const BrokerCheck* second) {
    json view{{"id", first.info.id},
              {"host", first.info.host},
              {"port", first.info.port},
              {"rack", first.info.rack.empty() ? json() : json(first.info.rack)},
              {"metrics_url", first.metrics_url},
              {"judgeable", first.reading.has_value()},
              {"reason", first.reading ? json() : json(first.reading.error().message)},
              {"idle_at_rest", nullptr},
              {"isr_churn_at_rest", nullptr},
              {"bytes_in_per_s", nullptr},
              {"meter", nullptr},
              {"signals", json::object()},
              {"message_max_bytes", first.message_max_bytes > 0 ? json(first.message_max_bytes) : json()}};
    if (!first.reading) return view;
    view["signals"] = signals_view(*first.reading);
    if (!second || !second->reading) return view;
    const auto& oldest = first.earlier ? *first.earlier : *first.reading;
    const BrokerWindow window{.broker_id = first.info.id,
                              .samples = {oldest.sample, second->reading->sample}};
    const auto& a = window.samples.front();
    const auto& b = window.samples.back();
    if (b.at_s <= a.at_s) return view;  // a source that had nothing new between the two looks
    if (const auto idle = idle_over(window)) {
        view["idle_at_rest"] = *idle;
        view["meter"] = *idle > 1.5 ? "shared_with_controller" : "broker_only";
    }
    if (const auto churn = isr_churn_over({window}, a.at_s, b.at_s, b.at_s - a.at_s))
        view["isr_churn_at_rest"] = *churn;
    if (a.bytes_in && b.bytes_in) view["bytes_in_per_s"] = (*b.bytes_in - *a.bytes_in) / (b.at_s - a.at_s);
    return view;
}

}  // namespace

tl::expected<json, Error> check_cluster(SweepService& sweeps, Clock& clock, const std::string& cluster) {
    json view{{"cluster", cluster},        {"fit", false},
              {"problems", json::array()}, {"warnings", json::array()},
              {"kafka", nullptr},          {"brokers", json::array()},
              {"agents", json::array()},   {"sampling_interval_s", nullptr}};
    const auto first = sweeps.look(cluster);
    if (!first) {
        if (first.error().code == ErrorCode::not_found) return tl::unexpected(first.error());
        view["problems"].push_back(first.error().message);
        for (const auto& agent : sweeps.agents()) view["agents"].push_back(agent_view(agent));
        return view;
    }
    clock.wait_until(clock.now_s() + kBetweenLooks_s, {});
    const auto second = sweeps.look(cluster);
    view["fit"] = first->problems.empty();
    view["problems"] = first->problems;
    view["warnings"] = first->warnings;
    if (first->sampling_interval_s > 0) view["sampling_interval_s"] = first->sampling_interval_s;
    view["kafka"] = {{"cluster_id", first->cluster.cluster_id},
                     {"controller_id", first->cluster.controller_id}};
    for (std::size_t i = 0; i < first->brokers.size(); ++i) {
        const auto* again = second && i < second->brokers.size() ? &second->brokers[i] : nullptr;
        view["brokers"].push_back(broker_view(first->brokers[i], again));
    }
    for (const auto& agent : first->agents) view["agents"].push_back(agent_view(agent));
    return view;
}

}  // namespace brink::api

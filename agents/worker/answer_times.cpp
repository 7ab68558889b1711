#include "agents/worker/answer_times.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace brink::worker {

std::map<int, double> answer_times_ms(std::string_view json) {
    std::map<int, double> times;
    const auto statistics = nlohmann::json::parse(json, nullptr, false);
    if (!statistics.is_object() || !statistics.contains("brokers")) return times;
    for (const auto& broker : statistics["brokers"]) {
        if (!broker.is_object()) continue;
        const auto id = broker.find("nodeid");
        const auto rtt = broker.find("rtt");
        if (id == broker.end() || !id->is_number_integer() || rtt == broker.end() || !rtt->is_object())
            continue;
        const auto mean_us = rtt->find("avg");
        const auto answers = rtt->find("cnt");
        if (mean_us == rtt->end() || !mean_us->is_number() || answers == rtt->end() || !answers->is_number())
            continue;
        // Negative ids are bootstrap addresses and the coordinators' own connections.
        if (id->get<std::int64_t>() < 0 || answers->get<double>() <= 0) continue;
        auto& slowest = times[static_cast<int>(id->get<std::int64_t>())];
        slowest = std::max(slowest, mean_us->get<double>() / 1'000);
    }
    return times;
}

}  // namespace brink::worker

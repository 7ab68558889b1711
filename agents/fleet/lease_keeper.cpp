#include "agents/fleet/lease_keeper.hpp"

#include <condition_variable>

#include "agents/fleet/agent_calls.hpp"
#include "agents/protocol/json.hpp"

namespace brink::fleet {
namespace {

constexpr std::chrono::milliseconds kEvery{1'000};
constexpr std::chrono::milliseconds kDeadline{1'000};

}  // namespace

LeaseKeeper::LeaseKeeper(net::HttpClient& http, std::int64_t epoch, std::chrono::milliseconds lease)
    : http_(http), epoch_(epoch), lease_(lease) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

tl::expected<void, Error> LeaseKeeper::hold(std::vector<AgentAddress> agents) {
    {
        std::lock_guard lock(mutex_);
        agents_ = std::move(agents);
    }
    const auto results = renew();
    std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < results.size() && i < agents_.size(); ++i) {
        if (auto answer = agent_answer(agents_[i], results[i]); !answer)
            return tl::unexpected(answer.error());
    }
    return {};
}

void LeaseKeeper::release() {
    std::lock_guard lock(mutex_);
    agents_.clear();
}

std::vector<net::ClientResult> LeaseKeeper::renew() {
    std::vector<net::ClientRequest> requests;
    {
        std::lock_guard lock(mutex_);
        const protocol::LeaseOrder order{.epoch = epoch_, .lease_ms = static_cast<int>(lease_.count())};
        for (const auto& agent : agents_)
            requests.push_back(agent_call(agent, "POST", "/v1/lease", to_json(order)));
    }
    if (requests.empty()) return {};
    return http_.fan_out(requests, kDeadline);
}

void LeaseKeeper::run(const std::stop_token& stop) {
    std::mutex wait_mutex;
    std::condition_variable_any wake;
    auto due = std::chrono::steady_clock::now();
    while (!stop.stop_requested()) {
        // A renewal that fails is not acted on here: the agent then ends its task by itself, and its report
        // says so.
        renew();
        due = std::max(due + kEvery, std::chrono::steady_clock::now());
        std::unique_lock lock(wait_mutex);
        wake.wait_until(lock, stop, due, [] { return false; });
    }
}

}  // namespace brink::fleet

#include "agents/fleet/http_fleet.hpp"

#include <chrono>

#include "agents/fleet/agent_calls.hpp"
#include "agents/fleet/split.hpp"
#include "agents/protocol/json.hpp"

namespace brink::fleet {
namespace {

constexpr std::chrono::milliseconds kStatusDeadline{2'000};
/// Preparing connects every producer to every broker, which takes its time on an overloaded cluster.
constexpr std::chrono::milliseconds kPrepareDeadline{30'000};
constexpr std::chrono::milliseconds kCallDeadline{3'000};

double unix_ms() {
    return std::chrono::duration<double, std::milli>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

AgentStatus read_status(const AgentAddress& agent, const net::ClientResult& result) {
    AgentStatus status{.name = agent.name, .url = agent.url, .state = "unreachable"};
    const auto answer = agent_answer(agent, result);
    if (!answer) {
        // Something that speaks but not as an agent does is there, and cannot be used.
        const bool speaks = answer.error().code == ErrorCode::bad_reply || (result && result->status != 0);
        if (speaks) status.state = "unusable";
        status.reason = answer.error().message;
        return status;
    }
    auto facts = protocol::read_host_facts(*answer);
    if (!facts) {
        status.state = "unusable";
        status.reason = "agent " + agent.name + " (" + agent.url +
                        ") answered facts that cannot be read: " + facts.error().message;
        return status;
    }
    status.facts = *facts;
    if (facts->protocol != protocol::kVersion) {
        status.state = "unusable";
        status.reason = "speaks protocol " + std::to_string(facts->protocol) + ", this controller " +
                        std::to_string(protocol::kVersion) + ": install the same version of brink on both";
        return status;
    }
    const auto half_way =
        std::chrono::duration<double, std::milli>(result->received - result->sent).count() / 2;
    status.clock_skew_ms = facts->clock_unix_ms + half_way - unix_ms();
    status.state = "ready";
    return status;
}

}  // namespace

std::vector<AgentStatus> ask_status(net::HttpClient& http, const std::vector<AgentAddress>& agents) {
    std::vector<net::ClientRequest> requests;
    requests.reserve(agents.size());
    for (const auto& agent : agents) requests.push_back(agent_call(agent, "GET", "/v1/host"));
    const auto results = http.fan_out(requests, kStatusDeadline);
    std::vector<AgentStatus> all;
    all.reserve(agents.size());
    for (std::size_t i = 0; i < agents.size(); ++i) all.push_back(read_status(agents[i], results[i]));
    return all;
}

HttpFleet::HttpFleet(net::HttpClient& http, std::vector<AgentAddress> agents, std::int64_t epoch,
                     std::chrono::milliseconds lease)
    : http_(http), agents_(std::move(agents)), epoch_(epoch), lease_(http, epoch, lease) {}

HttpFleet::~HttpFleet() { HttpFleet::remove(); }

std::vector<AgentStatus> HttpFleet::status() { return ask_status(http_, agents_); }

tl::expected<void, Error> HttpFleet::prepare(const std::string& trial, const protocol::TaskSpec& whole) {
    remove();
    std::vector<AgentAddress> ready;
    std::string reasons;
    const auto statuses = status();
    for (std::size_t i = 0; i < agents_.size(); ++i) {
        if (statuses[i].state == "ready") {
            ready.push_back(agents_[i]);
        } else {
            reasons += "; " + statuses[i].reason;
        }
    }
    if (ready.empty())
        return tl::unexpected(Error{ErrorCode::unavailable, "no agent is ready" + reasons, {}});
    const auto shares = split_producers(whole.producers, static_cast<int>(ready.size()));
    std::vector<net::ClientRequest> requests;
    int first = 0;
    for (std::size_t i = 0; i < ready.size() && shares[i] > 0; ++i) {
        auto task = whole;
        task.epoch = epoch_;
        task.producers = shares[i];
        task.first_producer = first;
        task.total_producers = whole.producers;
        first += shares[i];
        placed_.push_back(ready[i]);
        shares_.push_back(shares[i]);
        requests.push_back(agent_call(ready[i], "PUT", "/v1/tasks/" + trial, to_json(task)));
    }
    trial_ = trial;
    if (auto held = lease_.hold(placed_); !held) return held;
    return first_fault(http_.fan_out(requests, kPrepareDeadline));
}

std::vector<net::ClientResult> HttpFleet::to_each(const std::string& method, const std::string& path,
                                                  const nlohmann::json& body,
                                                  std::chrono::milliseconds deadline) {
    std::vector<net::ClientRequest> requests;
    requests.reserve(placed_.size());
    for (const auto& agent : placed_)
        requests.push_back(agent_call(agent, method, "/v1/tasks/" + trial_ + path, body));
    if (requests.empty()) return {};
    return http_.fan_out(requests, deadline);
}

tl::expected<void, Error> HttpFleet::first_fault(const std::vector<net::ClientResult>& results) {
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (auto answer = agent_answer(placed_[i], results[i]); !answer)
            return tl::unexpected(answer.error());
    }
    return {};
}

tl::expected<void, Error> HttpFleet::start(std::chrono::milliseconds delay) {
    const protocol::StartOrder order{.epoch = epoch_, .start_in_ms = static_cast<int>(delay.count())};
    return first_fault(to_each("POST", "/start", to_json(order), kCallDeadline));
}

std::vector<AgentReport> HttpFleet::reports(std::int64_t since) {
    const auto query = "/report?since=" + std::to_string(since) + "&epoch=" + std::to_string(epoch_);
    const auto results = to_each("GET", query, nullptr, kCallDeadline);
    std::vector<AgentReport> all;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const auto& agent = placed_[i];
        auto answer = agent_answer(agent, results[i]);
        if (!answer) {
            all.push_back({agent.name, tl::unexpected(answer.error())});
            continue;
        }
        auto report = protocol::read_task_report(*answer);
        if (!report) {
            all.push_back(
                {agent.name, tl::unexpected(report.error().within("report of agent " + agent.name))});
        } else if (report->trial != trial_ || report->epoch != epoch_) {
            all.push_back({agent.name, tl::unexpected(Error{ErrorCode::bad_reply,
                                                            "agent " + agent.name + " answered for trial " +
                                                                report->trial + " instead of " + trial_,
                                                            {}})});
        } else {
            all.push_back({agent.name, std::move(*report), shares_[i]});
        }
    }
    return all;
}

void HttpFleet::stop() { to_each("POST", "/stop", {{"epoch", epoch_}}, kCallDeadline); }

void HttpFleet::remove() {
    if (placed_.empty()) return;
    to_each("DELETE", "?epoch=" + std::to_string(epoch_), nullptr, kCallDeadline);
    lease_.release();
    placed_.clear();
    shares_.clear();
}

}  // namespace brink::fleet

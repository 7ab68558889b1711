#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>

#include "agents/fleet/fleet.hpp"
#include "agents/net/http_client.hpp"

namespace brink::fleet {

/// A request to an agent, with its token and its JSON body (null: none). All calls of the protocol are
/// idempotent.
net::ClientRequest agent_call(const AgentAddress& agent, const std::string& method, const std::string& path,
                              const nlohmann::json& body = nullptr);
/// The JSON of a 2xx answer. Errors: bad_reply (not JSON, HTML …), conflict (409), unavailable (other
/// statuses); each names the agent and says what it answered.
tl::expected<nlohmann::json, Error> agent_answer(const AgentAddress& agent, const net::ClientResult& result);

}  // namespace brink::fleet

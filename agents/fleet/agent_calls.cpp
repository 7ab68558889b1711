#include "agents/fleet/agent_calls.hpp"

#include "agents/protocol/json.hpp"

namespace brink::fleet {

net::ClientRequest agent_call(const AgentAddress& agent, const std::string& method, const std::string& path,
                              const nlohmann::json& body) {
    net::ClientRequest request;
    request.method = method;
    request.url = agent.url + path;
    if (!agent.token.empty()) request.headers.emplace_back("Authorization", "Bearer " + agent.token);
    if (!body.is_null()) request.body = body.dump();
    return request;
}

tl::expected<nlohmann::json, Error> agent_answer(const AgentAddress& agent, const net::ClientResult& result) {
    const auto who = "agent " + agent.name + " (" + agent.url + ")";
    if (!result) return tl::unexpected(result.error().within(who));
    if (result->status == 204) return nlohmann::json();
    const auto json = protocol::parse_json(result->body);
    if (result->status / 100 != 2) {
        const auto code = result->status == 409   ? ErrorCode::conflict
                          : result->status == 401 ? ErrorCode::unauthorised
                                                  : ErrorCode::unavailable;
        std::string detail = "no reason given";
        if (json && json->is_object() && json->contains("detail") && (*json)["detail"].is_string()) {
            detail = (*json)["detail"].get<std::string>();
        }
        return tl::unexpected(
            Error{code, who + " answered " + std::to_string(result->status) + ": " + detail, {}});
    }
    if (!json) {
        return tl::unexpected(Error{ErrorCode::bad_reply,
                                    who + " answered something that is not JSON (" + result->content_type() +
                                        "): is this the address of a brink-agent?",
                                    {}});
    }
    return *json;
}

}  // namespace brink::fleet

#pragma once
#include <string>

#include "agents/net/http_client.hpp"

/// What the calls to exporters and to Prometheus servers have in common. Pure.
namespace brink {

/// Adds the Authorization header: the bearer token, or else user and password, or else nothing.
void authorise(net::ClientRequest& request, const std::string& bearer_token, const std::string& basic_user,
               const std::string& basic_password);
/// The address for messages: without what may stand before an `@`, and without the query.
std::string shown_url(const std::string& url);
bool is_html(const net::ClientResponse& response);
/// unauthorised for 401 and 403, unavailable from 500 on, bad_reply for any other.
ErrorCode code_of_status(int status);

}  // namespace brink

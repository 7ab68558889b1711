#pragma once
#include <string>
#include <vector>

#include "agents/net/http_message.hpp"
#include "agents/net/http_server.hpp"
#include "search/error.hpp"

namespace brink::net {

/// A table of routes. A pattern is literal segments and `{name}` segments; a final verb as in
/// `/sweeps/{id}:cancel` is matched literally after the parameter. No match: 404; other method: 405 with
/// `Allow`. HEAD is answered as GET without its body (Content-Length kept). All faults are RFC 9457 problems.
class Router {
  public:
    void add(std::string method, std::string pattern, Handler handler);
    /// Every request must carry `Authorization: Bearer <token>` (constant-time comparison), except the paths
    /// listed.
    void require_token(std::string token, std::vector<std::string> open_paths);
    [[nodiscard]] HttpResponse operator()(const HttpRequest& request) const;
    /// (method, pattern) of every route, in order; the OpenAPI test walks it.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> routes() const;

  private:
    struct Route {
        std::string method;
        std::string pattern;
        std::vector<std::string> segments;
        Handler handler;
    };
    std::vector<Route> routes_;
    std::string token_;
    std::vector<std::string> open_paths_;
};

/// An `application/problem+json` body (RFC 9457): type, title, status, detail, request_id, errors[{pointer,
/// detail}].
HttpResponse problem(int status, const std::string& detail, const HttpRequest& request,
                     const std::vector<ErrorDetail>& errors = {});
/// The same from an Error: invalid_input 400, unauthorised 401, not_found 404, conflict 409, unavailable 503,
/// timed_out 504, bad_reply 502, storage 503, anything else 500.
HttpResponse problem(const Error& error, const HttpRequest& request);

}  // namespace brink::net

#include <nlohmann/json.hpp>

#include "agents/net/router.hpp"

namespace brink::net {
namespace {

int status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_input:
            return 400;
        case ErrorCode::unauthorised:
            return 401;
        case ErrorCode::not_found:
            return 404;
        case ErrorCode::conflict:
            return 409;
        case ErrorCode::bad_reply:
            return 502;
        case ErrorCode::unavailable:
        case ErrorCode::storage:
            return 503;
        case ErrorCode::timed_out:
            return 504;
        case ErrorCode::configuration:
        case ErrorCode::cancelled:
        case ErrorCode::internal:
            return 500;
    }
    return 500;
}

}  // namespace

HttpResponse problem(int status, const std::string& detail, const HttpRequest& request,
                     const std::vector<ErrorDetail>& errors) {
    nlohmann::ordered_json body;
    body["type"] = "about:blank";
    body["title"] = status_title(status);
    body["status"] = status;
    body["detail"] = detail;
    body["request_id"] = request.request_id;
    if (!errors.empty()) {
        auto& list = body["errors"] = nlohmann::ordered_json::array();
        for (const auto& error : errors) {
            nlohmann::ordered_json entry;
            entry["pointer"] = error.pointer;
            entry["detail"] = error.detail;
            list.push_back(std::move(entry));
        }
    }
    HttpResponse response;
    response.status = status;
    response.content_type = "application/problem+json";
    // A path may hold any bytes: what is not UTF-8 is replaced, never thrown at.
    response.body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    return response;
}

HttpResponse problem(const Error& error, const HttpRequest& request) {
    return problem(status_of(error.code), error.message, request, error.details);
}

}  // namespace brink::net

#include "daemon/cli/controller_client.hpp"

#include <fmt/format.h>

#include <string_view>

#include "agents/protocol/json.hpp"
#include "daemon/cli/fields.hpp"

namespace brink::cli {
namespace {

constexpr std::size_t kLargestDocument = 256UL * 1024 * 1024;  // all trials of a long sweep

ErrorCode code_of(int status) {
    switch (status) {
        case 400:
        case 413:
        case 415:
        case 422:
            return ErrorCode::invalid_input;
        case 401:
        case 403:
            return ErrorCode::unauthorised;
        case 404:
            return ErrorCode::not_found;
        case 409:
            return ErrorCode::conflict;
        case 503:
            return ErrorCode::unavailable;
        case 504:
            return ErrorCode::timed_out;
        default:
            return ErrorCode::bad_reply;
    }
}

Error from_problem(const net::ClientResponse& response, const std::string& address) {
    Error error{code_of(response.status), fmt::format("{} answered {}", address, response.status)};
    const auto problem = protocol::parse_json(response.body);
    if (problem) {
        const std::string detail = text(*problem, "detail");
        const std::string title = text(*problem, "title");
        if (!detail.empty()) {
            error.message = detail;
        } else if (!title.empty()) {
            error.message += ": " + title;
        }
        for (const auto& entry : list(*problem, "errors")) {
            error.details.push_back(ErrorDetail{text(entry, "pointer"), text(entry, "detail")});
        }
        if (error.code == ErrorCode::bad_reply) {
            const std::string id = text(*problem, "request_id");
            if (!id.empty()) error.message += fmt::format(" (request {}; the controller's log has more)", id);
        }
    }
    if (error.code == ErrorCode::unauthorised) {
        error.message += "; name the token with --token-file or BRINK_TOKEN_FILE";
    }
    return error;
}

Error unreached(Error error, const std::string& address) {
    switch (error.code) {
        case ErrorCode::unavailable:
            error.message = fmt::format(
                "cannot reach the controller at {}: {}; another one is named with --controller URL or "
                "BRINK_CONTROLLER",
                address, error.message);
            return error;
        case ErrorCode::timed_out:
            error.message =
                fmt::format("the controller at {} did not answer in time: {}", address, error.message);
            return error;
        case ErrorCode::cancelled:
            error.message = "interrupted";
            return error;
        default:
            return error.within(address);
    }
}

JsonResult document(const net::ClientResponse& response, const std::string& address) {
    auto parsed = protocol::parse_json(response.body);
    if (parsed && parsed->is_object()) return std::move(*parsed);
    return tl::unexpected{
        Error{ErrorCode::bad_reply,
              fmt::format("{} answered {} with {}, not a JSON document; is that a brink controller?", address,
                          response.status,
                          response.content_type().empty() ? "no content type" : response.content_type())}};
}

}  // namespace

tl::expected<net::ClientResponse, Error> ControllerClient::call(net::ClientRequest request,
                                                                std::chrono::milliseconds deadline) const {
    request.url = settings_.controller + "/api/v1" + request.url;
    if (!settings_.token.empty()) request.headers.emplace_back("Authorization", "Bearer " + settings_.token);
    auto response = http_.call(request, deadline);
    if (!response) return tl::unexpected{unreached(response.error(), settings_.controller)};
    if (response->status < 200 || response->status >= 300) {
        return tl::unexpected{from_problem(*response, settings_.controller)};
    }
    return std::move(*response);
}

JsonResult ControllerClient::get(const std::string& path, std::chrono::milliseconds deadline) const {
    net::ClientRequest request;
    request.url = path;
    request.max_body_bytes = kLargestDocument;
    const auto response = call(std::move(request), deadline);
    if (!response) return tl::unexpected{response.error()};
    return document(*response, settings_.controller);
}

JsonResult ControllerClient::post(const std::string& path, const nlohmann::json& body,
                                  bool idempotent) const {
    net::ClientRequest request;
    request.method = "POST";
    request.url = path;
    request.idempotent = idempotent;
    if (!body.is_null()) request.body = body.dump();
    const auto response = call(std::move(request), kThorough);
    if (!response) return tl::unexpected{response.error()};
    return document(*response, settings_.controller);
}

tl::expected<void, Error> ControllerClient::remove(const std::string& path) const {
    net::ClientRequest request;
    request.method = "DELETE";
    request.url = path;
    const auto response = call(std::move(request), kQuick);
    if (!response) return tl::unexpected{response.error()};
    return {};
}

tl::expected<std::string, Error> ControllerClient::download(const std::string& path, std::size_t max_bytes,
                                                            std::chrono::milliseconds deadline) const {
    net::ClientRequest request;
    request.url = path;
    request.max_body_bytes = max_bytes;
    auto response = call(std::move(request), deadline);
    if (!response) return tl::unexpected{response.error()};
    return std::move(response->body);
}

std::string path_segment(const std::string& text) {
    static constexpr std::string_view kPlain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    std::string encoded;
    for (const char c : text) {
        if (kPlain.find(c) != std::string_view::npos) {
            encoded.push_back(c);
        } else {
            encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return encoded;
}

}  // namespace brink::cli

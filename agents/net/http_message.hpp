#pragma once
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brink::net {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// A request as a handler sees it: already framed strictly, bounded, and with its target split and decoded.
struct HttpRequest {
    std::string method;                                        ///< upper case
    std::string path;                                          ///< percent-decoded, no `..`, no NUL
    std::vector<std::pair<std::string, std::string>> query{};  ///< percent-decoded, in order
    Headers headers{};
    std::string body{};
    std::string remote_address{};                ///< IP of the peer, without port
    std::string request_id{};                    ///< made by the server; also sent as X-Request-Id
    std::vector<std::string> path_parameters{};  ///< filled by the router, in order of the `{…}`

    /// First value of a header (case-insensitive name).
    [[nodiscard]] std::optional<std::string> header(const std::string& name) const;
    /// First value of a query parameter.
    [[nodiscard]] std::optional<std::string> query_value(const std::string& name) const;
};

/// A response. `file`, when set, is sent as the body and removed afterwards.
struct HttpResponse {
    int status = 200;
    std::string content_type = "application/json";
    std::string body{};
    Headers headers{};
    std::optional<std::filesystem::path> file{};
};

/// Reason phrase of a status, for logs and problem titles.
const char* status_title(int status);

}  // namespace brink::net

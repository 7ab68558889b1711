#pragma once
#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>

#include "agents/net/http_client.hpp"
#include "daemon/cli/settings.hpp"
#include "search/error.hpp"

namespace brink::cli {

using JsonResult = tl::expected<nlohmann::json, Error>;

/// Calls of the controller's REST API. Blocking, each with a deadline. A problem document becomes an Error
/// with its detail and pointers: 400, 413, 415 and 422 invalid_input, 401 and 403 unauthorised, 404
/// not_found, 409 conflict, 503 unavailable, 504 timed_out, anything else bad_reply.
class ControllerClient {
  public:
    /// `http` must outlive this.
    ControllerClient(Settings settings, net::HttpClient& http)
        : settings_{std::move(settings)}, http_{http} {}

    /// `path` is below /api/v1, with its query, for example `/sweeps?page_size=10`.
    [[nodiscard]] JsonResult get(const std::string& path, std::chrono::milliseconds deadline = kQuick) const;
    /// An idempotent POST may be repeated by the client when a kept connection turns out closed.
    [[nodiscard]] JsonResult post(const std::string& path, const nlohmann::json& body, bool idempotent) const;
    [[nodiscard]] tl::expected<void, Error> remove(const std::string& path) const;
    /// A body as it came.
    [[nodiscard]] tl::expected<std::string, Error> download(const std::string& path, std::size_t max_bytes,
                                                            std::chrono::milliseconds deadline) const;
    [[nodiscard]] const std::string& address() const { return settings_.controller; }

    static constexpr std::chrono::milliseconds kQuick{10'000};
    /// For calls in which the controller itself asks brokers, metrics endpoints and agents.
    static constexpr std::chrono::milliseconds kThorough{90'000};

  private:
    [[nodiscard]] tl::expected<net::ClientResponse, Error> call(net::ClientRequest request,
                                                                std::chrono::milliseconds deadline) const;
    Settings settings_;
    net::HttpClient& http_;
};

/// A text as one segment of a path: everything but letters, digits and `-._~` percent-encoded.
std::string path_segment(const std::string& text);

}  // namespace brink::cli

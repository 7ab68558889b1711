#include "daemon/metrics/metrics_call.hpp"

#include <openssl/evp.h>

#include <algorithm>

#include "agents/net/text.hpp"

namespace brink {

namespace {

std::string base64(const std::string& text) {
    std::string encoded(4 * ((text.size() + 2) / 3) + 1, '\0');  // one more for the NUL that OpenSSL appends
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): OpenSSL's bytes are unsigned
    const auto length =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
    encoded.resize(static_cast<std::size_t>(std::max(length, 0)));
    return encoded;
}

}  // namespace

void authorise(net::ClientRequest& request, const std::string& bearer_token, const std::string& basic_user,
               const std::string& basic_password) {
    if (!bearer_token.empty()) {
        request.headers.emplace_back("Authorization", "Bearer " + bearer_token);
    } else if (!basic_user.empty()) {
        request.headers.emplace_back("Authorization", "Basic " + base64(basic_user + ":" + basic_password));
    }
}

std::string shown_url(const std::string& url) {
    auto text = url.substr(0, url.find_first_of("?#"));
    const auto scheme = text.find("://");
    const auto host = scheme == std::string::npos ? 0 : scheme + 3;
    const auto path = text.find('/', host);
    const auto at = text.rfind('@', path);
    if (at != std::string::npos && at >= host) text.erase(host, at + 1 - host);
    return text;
}

bool is_html(const net::ClientResponse& response) {
    return net::lower(response.content_type()).starts_with("text/html");
}

ErrorCode code_of_status(int status) {
    if (status == 401 || status == 403) return ErrorCode::unauthorised;
    return status >= 500 ? ErrorCode::unavailable : ErrorCode::bad_reply;
}

}  // namespace brink

#include "agents/net/http_message.hpp"

#include <algorithm>
#include <array>

#include "agents/net/text.hpp"

namespace brink::net {

std::optional<std::string> HttpRequest::header(const std::string& name) const {
    return find_field(headers, name);
}

std::optional<std::string> HttpRequest::query_value(const std::string& name) const {
    const auto found =
        std::find_if(query.begin(), query.end(), [&](const auto& entry) { return entry.first == name; });
    if (found == query.end()) return std::nullopt;
    return found->second;
}

const char* status_title(int status) {
    struct Title {
        int status;
        const char* title;
    };
    static constexpr std::array kTitles{
        Title{100, "Continue"},
        Title{101, "Switching Protocols"},
        Title{200, "OK"},
        Title{201, "Created"},
        Title{202, "Accepted"},
        Title{204, "No Content"},
        Title{206, "Partial Content"},
        Title{301, "Moved Permanently"},
        Title{302, "Found"},
        Title{303, "See Other"},
        Title{304, "Not Modified"},
        Title{307, "Temporary Redirect"},
        Title{308, "Permanent Redirect"},
        Title{400, "Bad Request"},
        Title{401, "Unauthorized"},
        Title{403, "Forbidden"},
        Title{404, "Not Found"},
        Title{405, "Method Not Allowed"},
        Title{406, "Not Acceptable"},
        Title{408, "Request Timeout"},
        Title{409, "Conflict"},
        Title{410, "Gone"},
        Title{412, "Precondition Failed"},
        Title{413, "Content Too Large"},
        Title{415, "Unsupported Media Type"},
        Title{417, "Expectation Failed"},
        Title{421, "Misdirected Request"},
        Title{422, "Unprocessable Content"},
        Title{428, "Precondition Required"},
        Title{429, "Too Many Requests"},
        Title{431, "Request Header Fields Too Large"},
        Title{500, "Internal Server Error"},
        Title{501, "Not Implemented"},
        Title{502, "Bad Gateway"},
        Title{503, "Service Unavailable"},
        Title{504, "Gateway Timeout"},
        Title{507, "Insufficient Storage"},
    };
    const auto* const found = std::find_if(kTitles.begin(), kTitles.end(),
                                           [status](const Title& entry) { return entry.status == status; });
    return found == kTitles.end() ? "Unknown Status" : found->title;
}

}  // namespace brink::net

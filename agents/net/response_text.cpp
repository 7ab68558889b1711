#include "agents/net/response_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <stdexcept>

#include "agents/net/text.hpp"

namespace brink::net {
namespace {

/// IMF-fixdate of RFC 9110, in English whatever the locale.
std::string http_date() {
    static constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                  kDays.at(static_cast<std::size_t>(utc.tm_wday)), utc.tm_mday,
                  kMonths.at(static_cast<std::size_t>(utc.tm_mon)), utc.tm_year + 1900, utc.tm_hour,
                  utc.tm_min, utc.tm_sec);
    return text.data();
}

bool is_framing(std::string_view name) {
    static constexpr std::array<std::string_view, 6> kFraming{
        "content-length", "transfer-encoding", "connection", "date", "x-request-id", "content-type"};
    return std::any_of(kFraming.begin(), kFraming.end(),
                       [&](std::string_view own) { return equal_ignoring_case(own, name); });
}

void append(std::string& head, std::string_view name, std::string_view value) {
    head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

void check_fields(const HttpResponse& response) {
    if (response.status < 200 || response.status > 599)
        throw std::invalid_argument("a handler answered with status " + std::to_string(response.status));
    if (!is_field_value(response.content_type))
        throw std::invalid_argument("a handler answered with a control character in its content type");
    for (const auto& [name, value] : response.headers) {
        if (!is_token(name))
            throw std::invalid_argument("a handler answered with a header name that is no token");
        if (!is_field_value(value))
            throw std::invalid_argument("a handler answered with a control character in header " + name);
    }
}

std::string response_head(const HttpResponse& response, const ResponseFraming& framing) {
    std::string head =
        "HTTP/1.1 " + std::to_string(response.status) + " " + status_title(response.status) + "\r\n";
    append(head, "Date", http_date());
    const auto stated = find_field(response.headers, "content-length");
    if (has_body(response.status)) {
        if (!response.content_type.empty()) append(head, "Content-Type", response.content_type);
        append(head, "Content-Length",
               framing.to_head && stated ? *stated : std::to_string(framing.body_bytes));
    }
    append(head, "X-Request-Id", framing.request_id);
    if (!find_field(response.headers, "cache-control")) append(head, "Cache-Control", "no-store");
    if (!find_field(response.headers, "x-content-type-options"))
        append(head, "X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : response.headers) {
        if (!is_framing(name)) append(head, name, value);
    }
    if (framing.close) append(head, "Connection", "close");
    return head + "\r\n";
}

}  // namespace brink::net

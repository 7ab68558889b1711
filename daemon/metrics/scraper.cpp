#include "daemon/metrics/scraper.hpp"

#include <string_view>
#include <utility>

#include "daemon/metrics/inflate.hpp"
#include "daemon/metrics/metrics_call.hpp"

namespace brink {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// As it comes, and once inflated. A page of a broker with thousands of partitions can be tens of megabytes.
constexpr std::size_t kMaxPageBytes = 64UL * 1024 * 1024;

std::string where(const MetricsEndpoint& endpoint) {
    return "metrics of broker " + std::to_string(endpoint.broker_id) + " at " + shown_url(endpoint.url);
}

/// What a status other than 200 means for an exporter; empty for 200.
std::string status_fault(int status) {
    const auto answered = "answered HTTP " + std::to_string(status);
    if (status == 200) return {};
    if (status == 401 || status == 403) {
        return answered + ": set the credentials (token, or user and password) of this metrics endpoint";
    }
    if (status == 404)
        return answered + ": exporters serve metrics under /metrics; correct the endpoint's URL";
    if (status >= 300 && status < 400) return answered + ": redirects are not followed; give the final URL";
    if (status >= 500) {
        return answered +
               ": the exporter failed (some answer this until their broker has been up for minutes); see its "
               "log";
    }
    return answered + " instead of 200: correct the endpoint's URL";
}

/// The page of a response that came encoded.
tl::expected<std::string, Error> decoded(const net::ClientResponse& response, const std::string& encoding) {
    if (encoding == "gzip" || encoding == "x-gzip") return inflate_gzip(response.body, kMaxPageBytes);
    return tl::unexpected(Error{ErrorCode::bad_reply,
                                "answered with Content-Encoding '" + encoding +
                                    "', which was not asked for: brink reads plain pages and gzip; switch "
                                    "that encoding off at the exporter or the proxy before it"});
}

/// The failed call again, saying what was seen and what to change.
Error call_fault(const Error& error, milliseconds deadline) {
    if (error.code == ErrorCode::unavailable) {
        return Error{error.code, error.message + "; is the exporter running, and is the address right?"};
    }
    if (error.code == ErrorCode::timed_out) {
        return Error{error.code, error.message + " (deadline " + std::to_string(deadline.count()) +
                                     " ms); let the exporter export fewer beans, or allow scrapes more time"};
    }
    return error;
}

tl::expected<ScrapeReading, Error> read(net::ClientResult result, milliseconds deadline,
                                        const SignalReader& reader) {
    const auto sent = result ? result->sent : steady_clock::time_point{};
    const auto took = result ? result->received - sent : steady_clock::duration{};
    const auto page = page_of(std::move(result), deadline);
    if (!page) return tl::unexpected(page.error());
    auto reading = reader.read(*page);
    if (!reading) return reading;
    const auto middle = sent + took / 2;
    reading->sample.at_s = std::chrono::duration<double>(middle.time_since_epoch()).count();
    reading->scrape_ms = std::chrono::duration<double, std::milli>(took).count();
    const auto ago = steady_clock::now() - middle;
    const auto unix_time = std::chrono::system_clock::now().time_since_epoch() - ago;
    reading->at_unix_ms = std::chrono::duration_cast<milliseconds>(unix_time).count();
    return reading;
}

}  // namespace

net::ClientRequest scrape_request(const MetricsEndpoint& endpoint) {
    net::ClientRequest request;
    request.url = endpoint.url;
    request.max_body_bytes = kMaxPageBytes;
    // As it is, please: JMX exporters compress on the broker's own CPU, under load when there is none to
    // spare. They compress for a plain "gzip" anywhere in the list but not for one with a weight; whoever
    // reads weights sees that identity comes first. docs/decisions/2026-12-01-scrapes-ask-for-identity.md
    request.accept_encoding = "identity, gzip;q=0.1";
    // The old text format: exporters answer it fastest, and it has no end marker or _created series to skip.
    request.headers.emplace_back("Accept", "text/plain;version=0.0.4;q=1,*/*;q=0.1");
    authorise(request, endpoint.bearer_token, endpoint.basic_user, endpoint.basic_password);
    return request;
}

tl::expected<std::string, Error> page_of(net::ClientResult result, milliseconds deadline) {
    if (!result) return tl::unexpected(call_fault(result.error(), deadline));
    auto& response = *result;
    if (const auto fault = status_fault(response.status); !fault.empty()) {
        return tl::unexpected(Error{code_of_status(response.status), fault});
    }
    if (is_html(response)) {
        return tl::unexpected(
            Error{ErrorCode::bad_reply, "answered " + response.content_type() +
                                            ", a web page and not metrics: exporters serve metrics "
                                            "under /metrics; correct the endpoint's URL"});
    }
    const auto encoding = response.content_encoding();
    return encoding.empty() ? std::move(response.body) : decoded(response, encoding);
}

Scraper::Scraper(net::HttpClient& http, std::vector<MetricsEndpoint> endpoints, SignalReader reader)
    : http_(http), endpoints_(std::move(endpoints)), reader_(std::move(reader)) {}

std::vector<Scrape> Scraper::scrape_all(milliseconds deadline) {
    std::vector<net::ClientRequest> requests;
    requests.reserve(endpoints_.size());
    for (const auto& endpoint : endpoints_) requests.push_back(scrape_request(endpoint));
    auto results = http_.fan_out(requests, deadline);

    std::vector<Scrape> scrapes;
    scrapes.reserve(endpoints_.size());
    for (std::size_t i = 0; i < endpoints_.size(); ++i) {
        auto reading = read(std::move(results.at(i)), deadline, reader_);
        if (!reading) reading = tl::unexpected(reading.error().within(where(endpoints_[i])));
        scrapes.push_back({endpoints_[i].broker_id, std::move(reading)});
    }
    return scrapes;
}

std::string Scraper::origin(int broker_id) const {
    for (const auto& endpoint : endpoints_) {
        if (endpoint.broker_id == broker_id) return endpoint.url;
    }
    return {};
}

std::vector<int> Scraper::broker_ids() const {
    std::vector<int> ids;
    ids.reserve(endpoints_.size());
    for (const auto& endpoint : endpoints_) ids.push_back(endpoint.broker_id);
    return ids;
}

}  // namespace brink

#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "agents/net/http_client.hpp"
#include "search/error.hpp"

/// What a Prometheus server is asked and what it answers (its HTTP API, version 1). Pure.
namespace brink::prometheus {

using Labels = std::map<std::string, std::string>;

/// A raw sample as it is stored: when it was scraped, in Unix milliseconds of the server's own clock, and the
/// value as text ("1", "NaN", "+Inf").
struct StoredSample {
    std::int64_t at_ms = 0;
    std::string value{};
};

struct StoredSeries {
    std::string name{};
    Labels labels{};                      ///< without the name
    std::vector<StoredSample> samples{};  ///< oldest first
};

/// `{instance="h:7071",__name__=~"names"}`; `names` is a regular expression that the whole name has to match.
std::string selector(const Labels& labels, const std::string& names);
/// A regular expression for these names as exporters spell them, in any case and with or without `_total`;
/// and for what Prometheus itself says of a target.
std::string any_of(const std::vector<std::string>& names);
/// `{instance="h:7071"}`, for people.
std::string shown(const Labels& labels);
/// Percent-encodes all but the unreserved characters of RFC 3986.
std::string percent_encoded(const std::string& text);

/// The samples of a range selector. Errors: those of the call; unauthorised, unavailable, bad_reply with what
/// the server says, or what it seems to be instead.
tl::expected<std::vector<StoredSeries>, Error> read_matrix(const net::ClientResult& answer);

/// The server's clock, as the value of `time()`.
struct ClockReading {
    double unix_s = 0;
    double offset_s = 0;  ///< its Unix time less our monotonic time, half-way through the call
    double within_s = 0;  ///< half the round trip, which is what `offset_s` may be off by
};
/// Errors: as `read_matrix`.
tl::expected<ClockReading, Error> read_clock(const net::ClientResult& answer);
/// Type by family ("counter", "gauge" …) as the exporters declared it; families that two targets type
/// differently are left out. Errors: as `read_matrix`.
tl::expected<std::map<std::string, std::string>, Error> read_types(const net::ClientResult& answer);

}  // namespace brink::prometheus

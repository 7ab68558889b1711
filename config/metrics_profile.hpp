#pragma once
#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"

namespace brink {

/// What the number of a series is, and with it what it must look like to be believed.
enum class SeriesKind {
    counter_ns,  ///< cumulative idle nanoseconds, averaged over the pool's threads: whole, at least a million
    gauge_1m,    ///< one-minute moving average of the idle share, 0 … 2.2 (two pools on one meter)
    mean,        ///< average since the broker started, or over many minutes: recognised and never used
    busy_seconds,  ///< cumulative busy seconds, a series a shard, whatever its type says
    busy_percent,  ///< busy over the last seconds, 0 … 100, a series a shard
    counter,       ///< whole and not negative: a rate under a counter's name is nearly always fractional
    rate_1m,       ///< one-minute moving average of events per second; never back to 0, so only rises count
    gauge          ///< any finite number
};

/// Which threads an idle series is about.
enum class Pool {
    broker,     ///< the broker's own request handlers (from Kafka 4.2)
    aggregate,  ///< the meter that all pools of the process mark
    controller  ///< the controller's: tells that there is one, and is never used
};

/// How several series of one signal make one number.
enum class Join {
    one,    ///< they must agree
    sum,    ///< added up; where a series without `topic` is there, it is the sum already
    least,  ///< the worst is the lowest
    most    ///< the worst is the highest
};

/// One name of one signal.
struct ProfileSeries {
    std::string signal;  ///< io_idle, isr_shrinks, isr_expands, under_replicated, bytes_in …
    std::string name;    ///< lower case, without a final `_total`
    SeriesKind kind = SeriesKind::gauge;
    Pool pool = Pool::aggregate;
    Join join = Join::sum;
    /// Labels that the series must have; a value that begins with `*` must be what the label ends with.
    std::map<std::string, std::string> labels{};
    std::vector<std::string> types{};  ///< what its TYPE line may say, "" for none; empty: anything
};

/// What one exporter, with one set of rules, calls the signals.
struct MetricsProfile {
    std::string name;
    std::string exporter;           ///< for people
    std::string source{};           ///< where the names were read
    std::string refused_because{};  ///< set where the exporter cannot show how busy a broker is
    std::vector<ProfileSeries> series{};
};

/// Reads a profile in TOML; config/profiles has examples. `origin` names the file in errors. Errors:
/// configuration, with file and line.
tl::expected<MetricsProfile, Error> parse_metrics_profile(const std::string& text, const std::string& origin);
/// The same from a file. Errors: configuration.
tl::expected<MetricsProfile, Error> read_metrics_profile(const std::string& path);

/// The profiles that ship (config/profiles, compiled in), by file name.
const std::vector<MetricsProfile>& shipped_profiles();

/// As in the files: `counter_ns`, `gauge_1m` …
const char* to_string(SeriesKind kind);

}  // namespace brink

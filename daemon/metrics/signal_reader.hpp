#pragma once
#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "config/metrics_profile.hpp"
#include "daemon/metrics/metrics_source.hpp"
#include "daemon/metrics/name_set.hpp"

namespace brink {

/// Whose threads the idle meter of a page is about.
enum class PoolMode {
    broker,    ///< a broker alone
    combined,  ///< the process is a controller too
    unknown    ///< the page does not tell: what it reads at rest will
};

/// One signal as a page shows it.
struct SignalValue {
    double value = 0;    ///< of several series the sum, or the worst
    std::string series;  ///< as the page names it, labels and all
    SeriesKind kind = SeriesKind::gauge;
};

/// What a page was recognised to be, also when no load can be judged by it.
struct Recognition {
    std::string profile{};  ///< empty: none fits
    std::string exporter{};
    PoolMode mode = PoolMode::unknown;
    bool broker_meter = false;
    std::map<std::string, SignalValue> signals{};  ///< by signal, `io_idle` among them
    std::vector<double> busy_s{};                  ///< where `io_idle` is busy seconds: every shard's
    std::string refused{};                         ///< why no load can be judged by it, and what to change
    std::vector<std::string> notes{};              ///< what to know about judging by it
};

/// Reads pages of any exporter that it has a profile of. Decides by type, magnitude and name together; the
/// best idle signal wins: the broker's own counter, the counter of all pools, busy time, then a one-minute
/// average. Averages over a broker's life and controllers' pools are never used. Immutable, hence
/// thread-safe.
class SignalReader {
  public:
    /// `own` come before the profiles that ship.
    explicit SignalReader(const std::vector<MetricsProfile>& own = {});

    [[nodiscard]] Recognition recognise(std::string_view page) const;
    /// The same as a reading. Errors: bad_reply with `refused`.
    [[nodiscard]] tl::expected<ScrapeReading, Error> read(std::string_view page) const;

    /// The names of metrics that it looks for.
    [[nodiscard]] const NameSet& names() const { return names_; }

    /// One series of one signal that some profiles name.
    struct Row {
        ProfileSeries series;
        std::vector<std::size_t> profiles{};  ///< indices of those that have it
    };

  private:
    std::vector<MetricsProfile> profiles_;
    std::vector<Row> rows_;
    NameSet names_{{}};                                   ///< of the rows, then the exporter's own
    std::vector<std::vector<std::size_t>> rows_by_name_;  ///< by a name's place in `names_`
};

/// What was recognised as a reading, without its times. Pure. Errors: bad_reply with `refused`.
tl::expected<ScrapeReading, Error> reading_of(const Recognition& page);

const char* to_string(PoolMode mode);

}  // namespace brink

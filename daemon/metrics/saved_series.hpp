#pragma once
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "daemon/metrics/signal_reader.hpp"
#include "search/verdict.hpp"

namespace brink {

/// One row of a saved series' index.
struct SavedScrape {
    int seq = 0;
    double begun_s = 0;  ///< unix seconds
    double ended_s = 0;
    std::string file{};  ///< relative to the folder
    int broker_id = 0;
};

/// Reads `index.csv`: columns `seq`, `epoch_start`, `epoch_end`, `file` and, where there are several brokers,
/// `broker`, found by their names in the first line; other columns are ignored. Errors: invalid_input, with
/// the line.
tl::expected<std::vector<SavedScrape>, Error> parse_series_index(const std::string& text);

/// A scrape of the series as it was read.
struct ReadScrape {
    SavedScrape scrape{};
    Recognition page{};
    std::optional<BrokerSample> sample{};  ///< nothing where the page was refused
};

/// What a range of a saved series shows.
struct SeriesVerdict {
    Verdict verdict{};
    JudgeRules rules{};
    std::vector<std::string> profiles{};  ///< of the pages in the range
    PoolMode mode = PoolMode::unknown;
    /// Two scrapes in a row of one broker.
    struct Step {
        int broker_id = 0;
        int from_seq = 0;
        int to_seq = 0;
        double seconds = 0;
        std::optional<double>
            idle{};  ///< as counted, without clamping; nothing for averages and after a reset
        bool isr_changed = false;
        double under_replicated = 0;  ///< at its end
    };
    std::vector<Step> steps{};
};

/// Judges the scrapes with `from` ≤ seq ≤ `to` by the brokers' rules alone: the range is the measuring
/// window, at least 3 scrapes over 10 s. All of the series helps to tell whether a controller marks the same
/// meter. Pure.
SeriesVerdict judge_series(const std::vector<ReadScrape>& series, int from, int to, JudgeRules rules);

/// Reads the index of a folder and its pages. A page that is missing or not metrics is a scrape that failed.
/// Errors: invalid_input for a folder without a usable index.
tl::expected<std::vector<ReadScrape>, Error> read_series(const std::string& folder,
                                                         const SignalReader& reader);

}  // namespace brink

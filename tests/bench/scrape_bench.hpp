#pragma once
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"

namespace brink::bench {

/// One way to read a page, and how fast it is.
struct ScrapeRow {
    std::string what;
    double mb_per_s = 0;      ///< 10⁶ bytes per second of CPU time of one core; the median of the runs
    std::size_t samples = 0;  ///< that it handed on (for `lines_only`: lines)
};

/// Every name under which read_scrape() looks for a signal.
std::vector<std::string> signal_names();

/// Reads `page` in different ways side by side, `runs` times for at least `each_run` of CPU time:
/// - `signals`: the parser, selecting signal_names();
/// - `signals_16_kib`: the same, fed in pieces of 16 KiB, as they come from a socket;
/// - `every_sample`: the parser, selecting everything;
/// - `read_scrape`: all that brink makes of a scrape;
/// - `lines_only`: memchr from one line end to the next, what no parser of lines can beat.
std::vector<ScrapeRow> run_scrape(std::string_view page, int runs, std::chrono::milliseconds each_run);

/// A page from a file, inflated where its name ends in `.gz`. Errors: not_found, bad_reply.
tl::expected<std::string, Error> load_page(const std::string& path);

}  // namespace brink::bench

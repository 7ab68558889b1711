#include "tests/bench/scrape_bench.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>

#include "daemon/metrics/exposition.hpp"
#include "daemon/metrics/inflate.hpp"
#include "daemon/metrics/metrics_source.hpp"
#include "daemon/metrics/signal_reader.hpp"
#include "search/statistics.hpp"

namespace brink::bench {
namespace {

constexpr std::size_t kPiece = std::size_t{16} * 1024;
constexpr std::size_t kMaxPageBytes = std::size_t{1} << 30U;

/// Of this thread: what else runs on the machine does not count, but for what it does to the caches.
double cpu_s() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// What a user of samples does at the least, so that nothing is left out as unused.
struct Tally {
    std::size_t samples = 0;
    double sum = 0;
    std::size_t labels = 0;
    void operator()(const ExpositionSample& sample) {
        ++samples;
        sum += sample.value;
        labels += sample.labels.size();
    }
};

constexpr ExpositionLimits kWide{.max_body_bytes = kMaxPageBytes, .max_samples = kMaxPageBytes};

template <class Selector>
std::size_t parse(std::string_view page, const Selector& selector, std::size_t piece) {
    Tally tally;
    ExpositionParser parser{selector, tally, kWide};
    for (; !page.empty(); page.remove_prefix(std::min(piece, page.size())))
        parser.feed(page.substr(0, piece));
    return parser.finish() ? tally.samples : 0;
}

std::size_t count_lines(std::string_view page) {
    std::size_t lines = 0;
    while (!page.empty()) {
        const void* const end = std::memchr(page.data(), '\n', page.size());
        if (end == nullptr) break;
        page.remove_prefix(static_cast<std::size_t>(static_cast<const char*>(end) - page.data()) + 1);
        ++lines;
    }
    return lines;
}

struct Reader {
    std::string what;
    std::function<std::size_t(std::string_view)> read;
    std::vector<double> mb_per_s{};
    std::size_t samples = 0;
};

void time_one(Reader& reader, std::string_view page, double at_least_s) {
    const double begun = cpu_s();
    double took = 0;
    std::size_t pages = 0;
    while (took < at_least_s || pages == 0) {
        reader.samples = reader.read(page);
        ++pages;
        took = cpu_s() - begun;
    }
    reader.mb_per_s.push_back(static_cast<double>(page.size() * pages) / 1e6 / std::max(took, 1e-9));
}

}  // namespace

std::vector<std::string> signal_names() { return SignalReader{}.names().names(); }

std::vector<ScrapeRow> run_scrape(std::string_view page, int runs, std::chrono::milliseconds each_run) {
    const NameSet names{signal_names()};
    const auto all = [](std::string_view) { return true; };
    std::vector<Reader> readers{
        {"signals", [&](std::string_view text) { return parse(text, names, text.size()); }},
        {"signals_16_kib", [&](std::string_view text) { return parse(text, names, kPiece); }},
        {"every_sample", [&](std::string_view text) { return parse(text, all, text.size()); }},
        {"read_scrape",
         [](std::string_view text) {
             const auto reading = read_scrape(text);
             return reading ? reading->signals.size() : 0;
         }},
        {"lines_only", &count_lines}};
    // One after the other within each run, so that whatever disturbs the machine disturbs all alike.
    for (int run = 0; run < runs; ++run) {
        for (auto& reader : readers) time_one(reader, page, std::chrono::duration<double>(each_run).count());
    }
    std::vector<ScrapeRow> rows;
    for (const auto& reader : readers)
        rows.push_back({reader.what, median_of(reader.mb_per_s), reader.samples});
    return rows;
}

tl::expected<std::string, Error> load_page(const std::string& path) {
    std::ifstream in{path, std::ios::binary};
    if (!in) {
        return tl::unexpected(
            Error{ErrorCode::not_found, "cannot read '" + path + "': give an existing page with --page"});
    }
    std::string text{std::istreambuf_iterator<char>{in}, {}};
    if (!path.ends_with(".gz")) return text;
    auto inflated = inflate_gzip(text, kMaxPageBytes);
    if (!inflated) return tl::unexpected(inflated.error().within(path));
    return inflated;
}

}  // namespace brink::bench

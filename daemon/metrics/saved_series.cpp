#include "daemon/metrics/saved_series.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "daemon/csv_records.hpp"

namespace brink {
namespace {

Error wrong(const std::string& what) { return Error{ErrorCode::invalid_input, "index.csv " + what, {}}; }

/// More scrapes than anybody saves.
constexpr std::size_t kMostRows = 1'000'000;

template <class T>
std::optional<T> number(const std::string& text) {
    T value{};
    const auto* const end = text.data() + text.size();
    const auto [stopped, fault] = std::from_chars(text.data(), end, value);
    if (fault != std::errc{} || stopped != end || text.empty()) return std::nullopt;
    return value;
}

std::optional<std::string> content(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) return std::nullopt;
    return std::string{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

}  // namespace

tl::expected<std::vector<SavedScrape>, Error> parse_series_index(const std::string& text) {
    const auto records = csv::records_of(text, kMostRows, "series");
    if (!records) return tl::unexpected(wrong(records.error().message));
    if (records->empty()) return tl::unexpected(wrong("is empty"));
    std::map<std::string, std::size_t> columns;
    const auto& heading = records->front();
    for (std::size_t i = 0; i < heading.size(); ++i) columns.emplace(heading[i], i);
    for (const char* needed : {"seq", "epoch_start", "epoch_end", "file"}) {
        if (!columns.contains(needed)) {
            return tl::unexpected(wrong(
                fmt::format("has no column '{}': it needs seq, epoch_start, epoch_end and file", needed)));
        }
    }
    std::vector<SavedScrape> scrapes;
    for (std::size_t at = 1; at < records->size(); ++at) {
        const auto& cells = records->at(at);
        const auto cell = [&](const char* column) -> std::string {
            const auto found = columns.find(column);
            return found == columns.end() || found->second >= cells.size() ? "" : cells[found->second];
        };
        const auto seq = number<int>(cell("seq"));
        const auto begun = number<double>(cell("epoch_start"));
        const auto ended = number<double>(cell("epoch_end"));
        const auto broker = columns.contains("broker") ? number<int>(cell("broker")) : std::optional{0};
        if (!seq || !begun || !ended || !broker || cell("file").empty()) {
            return tl::unexpected(wrong(fmt::format("line {}: '{}' is not a row of {}", at + 1,
                                                    fmt::join(cells, ","), heading.size())));
        }
        if (*ended < *begun) {
            return tl::unexpected(wrong(
                fmt::format("line {}: ends at {:.3f} before it begins at {:.3f}", at + 1, *ended, *begun)));
        }
        scrapes.push_back({*seq, *begun, *ended, cell("file"), *broker});
    }
    if (scrapes.empty()) return tl::unexpected(wrong("has no rows"));
    return scrapes;
}

tl::expected<std::vector<ReadScrape>, Error> read_series(const std::string& folder,
                                                         const SignalReader& reader) {
    const std::filesystem::path root{folder};
    const auto csv = content(root / "index.csv");
    if (!csv) {
        return tl::unexpected(Error{ErrorCode::invalid_input,
                                    "cannot read " + (root / "index.csv").string() +
                                        ": a saved series is a folder of scrapes with an index.csv",
                                    {}});
    }
    const auto index = parse_series_index(*csv);
    if (!index) return tl::unexpected(index.error().within(folder));
    std::vector<ReadScrape> series;
    for (const auto& scrape : *index) {
        ReadScrape read{.scrape = scrape};
        if (const auto page = content(root / scrape.file)) {
            read.page = reader.recognise(*page);
            if (auto reading = reading_of(read.page)) {
                read.sample = reading->sample;
                // When within a scrape the exporter read its beans is not known: half-way is off by the
                // least.
                read.sample->at_s = (scrape.begun_s + scrape.ended_s) / 2;
            }
        } else {
            read.page.refused = "there is no file " + scrape.file;
        }
        series.push_back(std::move(read));
    }
    std::stable_sort(series.begin(), series.end(), [](const ReadScrape& a, const ReadScrape& b) {
        return a.scrape.begun_s + a.scrape.ended_s < b.scrape.begun_s + b.scrape.ended_s;
    });
    return series;
}

}  // namespace brink

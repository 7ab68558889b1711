#include "daemon/metrics/signal_reader.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <utility>

#include "daemon/metrics/exposition.hpp"
#include "daemon/metrics/page_findings.hpp"
#include "daemon/metrics/page_recognition.hpp"

namespace brink {
namespace {

/// What the JMX exporter says of itself. Without anything else on a page, it has lost its broker.
constexpr std::array<const char*, 5> kExportersOwn{"jmx_scrape_error", "jmx_scrape_duration_seconds",
                                                   "jmx_scrape_cached_beans", "jmx_exporter_build_info",
                                                   "jmx_config_reload_success"};

bool same(const ProfileSeries& a, const ProfileSeries& b) {
    return a.signal == b.signal && a.name == b.name && a.kind == b.kind && a.pool == b.pool &&
           a.join == b.join && a.labels == b.labels && a.types == b.types;
}

std::string beginning(std::string_view text) {
    std::string start{text.substr(0, 40)};
    std::replace_if(start.begin(), start.end(), [](char c) { return c < ' ' || c > '~'; }, ' ');
    return "\"" + start + "\"";
}

void put(ScrapeReading& reading, std::string key, double value, const std::string& series) {
    reading.series.emplace(key, series);
    reading.signals.emplace(std::move(key), value);
}

void put_idle(ScrapeReading& reading, const Recognition& page, const SignalValue& idle) {
    auto& sample = reading.sample;
    switch (idle.kind) {
        case SeriesKind::counter_ns:
            sample.idle_ns = idle.value;
            return put(reading, "io_idle_ns", idle.value, idle.series);
        case SeriesKind::gauge_1m:
            sample.idle_gauge = idle.value;
            sample.idle_gauge_s = 60;
            return put(reading, "io_idle_1m", idle.value, idle.series);
        case SeriesKind::busy_percent:
            // Seastar averages its reactors' load over five readings of a second each.
            sample.idle_gauge = std::max(0.0, 1 - idle.value / 100);
            sample.idle_gauge_s = 5;
            return put(reading, "io_busy_percent", idle.value, idle.series);
        default:
            sample.busy_s = page.busy_s;
            for (std::size_t shard = 0; shard < page.busy_s.size(); ++shard)
                put(reading, fmt::format("io_busy_s.{}", shard), page.busy_s[shard], idle.series);
    }
}

void fill_sample(ScrapeReading& reading, const Recognition& page) {
    const auto value = [&](const char* signal, SeriesKind kind) -> std::optional<double> {
        const auto at = page.signals.find(signal);
        if (at == page.signals.end() || at->second.kind != kind) return std::nullopt;
        return at->second.value;
    };
    auto& sample = reading.sample;
    sample.isr_shrinks = value("isr_shrinks", SeriesKind::counter);
    sample.isr_expands = value("isr_expands", SeriesKind::counter);
    sample.isr_shrinks_rate = value("isr_shrinks", SeriesKind::rate_1m);
    sample.isr_expands_rate = value("isr_expands", SeriesKind::rate_1m);
    sample.under_replicated = value("under_replicated", SeriesKind::gauge);
    sample.offline_partitions = value("offline_partitions", SeriesKind::gauge);
    sample.bytes_in = value("bytes_in", SeriesKind::counter);
    sample.messages_in = value("messages_in", SeriesKind::counter);
    sample.process_start_s = value("process_start_s", SeriesKind::gauge);
    sample.network_idle = value("network_idle", SeriesKind::gauge);
    sample.max_lag = value("max_lag", SeriesKind::gauge);
    sample.produce_requests = value("produce_requests", SeriesKind::counter);
    sample.produce_ms = value("produce_sum_ms", SeriesKind::gauge);
    // Kafka's mean is over the broker's life: what it was made of is its sum, exactly.
    if (const auto mean = value("produce_mean_ms", SeriesKind::gauge);
        mean && sample.produce_requests && !sample.produce_ms)
        sample.produce_ms = *mean * *sample.produce_requests;
}

}  // namespace

SignalReader::SignalReader(const std::vector<MetricsProfile>& own) : profiles_(own) {
    const auto& shipped = shipped_profiles();
    profiles_.insert(profiles_.end(), shipped.begin(), shipped.end());
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
        for (const auto& series : profiles_[i].series) {
            auto row = std::find_if(rows_.begin(), rows_.end(),
                                    [&](const Row& r) { return same(r.series, series); });
            if (row == rows_.end()) row = rows_.insert(rows_.end(), Row{series});
            row->profiles.push_back(i);
        }
    }
    std::vector<std::string> names;
    std::map<std::string, std::vector<std::size_t>> by_name;
    for (std::size_t row = 0; row < rows_.size(); ++row) by_name[rows_[row].series.name].push_back(row);
    for (auto& [name, rows] : by_name) {
        names.push_back(name);
        rows_by_name_.push_back(std::move(rows));
    }
    names.insert(names.end(), kExportersOwn.begin(), kExportersOwn.end());
    names_ = NameSet{std::move(names)};
}

Recognition SignalReader::recognise(std::string_view page) const {
    const auto refuse = [](std::string why) { return Recognition{.refused = std::move(why)}; };
    const auto first = page.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return refuse("the page is empty: not metrics");
    if (page[first] == '<')
        return refuse("the page is HTML, not metrics: exporters serve metrics under /metrics");
    PageFindings findings{rows_};
    bool exporter_failed = false;
    std::size_t of_exporter = 0;
    const auto sink = [&](const ExpositionSample& sample) {
        const auto index = static_cast<std::size_t>(sample.name_index);
        if (index < rows_by_name_.size()) return findings.add(sample, rows_by_name_[index]);
        ++of_exporter;
        exporter_failed = exporter_failed || (sample.name == "jmx_scrape_error" && sample.value != 0);
    };
    ExpositionParser parser{names_, sink};
    parser.feed(page);
    const auto finished = parser.finish();
    if (!finished) return refuse(finished.error().message);
    const auto& stats = *finished;
    if (stats.samples == 0) {
        return refuse("the page is not metrics in Prometheus' text format; it begins with " +
                      beginning(page.substr(first)));
    }
    return recognise_page(
        profiles_, rows_, findings,
        {.page = page, .failed = exporter_failed, .alone = of_exporter != 0 && of_exporter == stats.samples});
}

tl::expected<ScrapeReading, Error> SignalReader::read(std::string_view page) const {
    return reading_of(recognise(page));
}

tl::expected<ScrapeReading, Error> reading_of(const Recognition& recognition) {
    if (!recognition.refused.empty())
        return tl::unexpected(Error{ErrorCode::bad_reply, recognition.refused, {}});
    ScrapeReading reading;
    reading.profile = recognition.profile;
    reading.broker_meter = recognition.broker_meter;
    for (const auto& [signal, seen] : recognition.signals) {
        if (signal == "io_idle") {
            put_idle(reading, recognition, seen);
        } else {
            put(reading, signal + (seen.kind == SeriesKind::rate_1m ? "_1m" : ""), seen.value, seen.series);
        }
    }
    fill_sample(reading, recognition);
    return reading;
}

tl::expected<ScrapeReading, Error> read_scrape(std::string_view text) {
    static const SignalReader reader;
    return reader.read(text);
}

const char* to_string(PoolMode mode) {
    switch (mode) {
        case PoolMode::broker:
            return "broker";
        case PoolMode::combined:
            return "combined";
        case PoolMode::unknown:
            return "unknown";
    }
    return "unknown";
}

}  // namespace brink

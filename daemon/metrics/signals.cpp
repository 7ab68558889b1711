// How one scrape of a broker becomes a reading; what exporters call the signals is in signal_rows.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>

#include "daemon/metrics/exposition.hpp"
#include "daemon/metrics/scraper.hpp"
#include "daemon/metrics/signal_rows.hpp"

namespace brink {

namespace {

using namespace signals;

/// The rule to add where an exporter leaves the counter out; the names it makes are in the table.
constexpr std::string_view kExporterRule =
    "add to the JMX exporter's rules, before any rule that matches this bean: \"- pattern: "
    "kafka.server<type=KafkaRequestHandlerPool, name=(.+)><>Count\", \"  name: "
    "kafka_server_kafkarequesthandlerpool_$1_count\", \"  type: COUNTER\"";

/// A name in lower case without a final `_total`, in a buffer of its own. Longer names are none of ours.
class PlainName {
  public:
    explicit PlainName(std::string_view name) {
        if (name.size() > text_.size()) return;
        std::transform(name.begin(), name.end(), text_.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
        size_ = name.size();
        if (view().ends_with("_total")) size_ -= std::string_view{"_total"}.size();
    }
    [[nodiscard]] std::string_view view() const { return {text_.data(), size_}; }
    [[nodiscard]] bool contains(std::string_view part) const {
        return view().find(part) != std::string_view::npos;
    }

  private:
    std::array<char, 128> text_{};
    std::size_t size_ = 0;
};

/// Indices of the rows, sorted by name: what the first look at each line searches.
constexpr auto kRowsByName = [] {
    std::array<std::size_t, kRowCount> rows{};
    for (std::size_t i = 0; i < kRowCount; ++i) rows.at(i) = i;
    std::sort(rows.begin(), rows.end(), [](std::size_t a, std::size_t b) {
        return kRows[a].name != kRows[b].name ? kRows[a].name < kRows[b].name : a < b;
    });
    return rows;
}();

std::span<const std::size_t> rows_called(std::string_view name) {
    const auto by_name = [](std::size_t row) { return kRows[row].name; };
    const auto range = std::ranges::equal_range(kRowsByName, name, {}, by_name);
    return {range.begin(), range.end()};
}

bool believable(Shape shape, double value) {
    if (!std::isfinite(value)) return false;
    if (shape == Shape::gauge) return true;
    return value >= (shape == Shape::idle_counter ? kLeastIdleNs : 0) && value == std::floor(value);
}

std::string_view label(const ExpositionSample& sample, std::string_view name) {
    for (const auto& [key, value] : sample.labels) {
        if (key == name) return value;
    }
    return {};
}

/// The series as the page names it, labels and all.
std::string series_of(const ExpositionSample& sample) {
    std::string text{sample.name};
    if (sample.labels.empty()) return text;
    char before = '{';
    for (const auto& [key, value] : sample.labels) {
        text += before;
        text.append(key).append("=\"").append(value).append("\"");
        before = ',';
    }
    return text + "}";
}

std::string shown(double value) {
    std::array<char, 32> text{};
    const auto length = std::snprintf(text.data(), text.size(), "%.6g", value);
    return {text.data(), static_cast<std::size_t>(length)};
}

/// Series that one row matched.
struct Found {
    std::string series;
    double value = 0;
    bool of_topic = false;
};

/// All that a scrape says about the signals, by row.
class Findings {
  public:
    [[nodiscard]] static bool wanted(std::string_view name) {
        const PlainName plain{name};
        return !rows_called(plain.view()).empty() || plain.contains("requesthandler") ||
               plain.view() == "jmx_scrape_error";
    }

    void add(const ExpositionSample& sample) {
        const PlainName plain{sample.name};
        if (plain.view() == "jmx_scrape_error") {
            exporter_failed_ = exporter_failed_ || sample.value != 0;
            return;
        }
        const auto bean = label(sample, "name");
        if (bean == kControllerBean || plain.contains("_controllerrequesthandleravgidle"))
            controller_pool_ = true;
        bool used = false;
        for (const auto row : rows_called(plain.view())) {
            const auto& entry = kRows[row];
            if (!entry.bean.empty() && entry.bean != bean) continue;
            if (!believable(entry.shape, sample.value)) {
                if (entry.shape == Shape::idle_counter) refuse(sample);
                return;
            }
            found_.at(row).push_back({series_of(sample), sample.value, !label(sample, "topic").empty()});
            used = true;
        }
        if (!used && plain.contains("requesthandler")) see_rate(sample, plain, bean);
    }

    /// The value of the first row of `signal` that has one. Nothing when series that must agree do not.
    struct Answer {
        double value = 0;
        std::string series;
        std::size_t row = 0;
        bool contradictory = false;
    };
    [[nodiscard]] std::optional<Answer> answer(std::string_view signal) const {
        // The series over all topics of any row beat sums over topics: a sum misses what was deleted.
        for (const bool of_topic : {false, true}) {
            for (std::size_t row = 0; row < kRowCount; ++row) {
                if (kRows[row].signal != signal) continue;
                std::vector<Found> series;
                for (const auto& found : found_.at(row)) {
                    if (found.of_topic == of_topic) series.push_back(found);
                }
                if (!series.empty()) return join(row, std::move(series));
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] bool controller_pool() const { return controller_pool_; }

    /// Why there is no idle counter, and what to do.
    [[nodiscard]] std::string why_no_idle() const {
        if (exporter_failed_) {
            return "the exporter could not read its broker (jmx_scrape_error is not 0): is the broker up, "
                   "and does the "
                   "exporter's JMX address fit?";
        }
        const std::string rule{kExporterRule};
        if (!refused_.empty()) {
            return "no idle counter: " + refused_ + " is not a count of nanoseconds; " + rule;
        }
        if (!rate_.empty()) {
            return "no idle counter: the scrape has only " + rate_ +
                   ", an average over minutes or over the broker's whole life that cannot judge a window; " +
                   rule;
        }
        return "no idle counter (Count of "
               "kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent) "
               "in the scrape: is this a broker's JMX exporter? If so, " +
               rule;
    }

  private:
    static Answer join(std::size_t row, std::vector<Found> series) {
        // The same series again counts once, and two values of it are one too many.
        std::ranges::sort(series, {}, &Found::series);
        Answer answer{series.front().value, series.front().series, row, false};
        std::size_t more = 0;
        for (std::size_t i = 1; i < series.size(); ++i) {
            const auto& next = series[i];
            if (next.series == series[i - 1].series) {
                answer.contradictory = answer.contradictory || next.value != series[i - 1].value;
                continue;
            }
            ++more;
            switch (kRows[row].join) {
                case Join::one:
                    answer.contradictory = answer.contradictory || next.value != answer.value;
                    break;
                case Join::sum:
                    answer.value += next.value;
                    break;
                case Join::least:
                    answer.value = std::min(answer.value, next.value);
                    break;
                case Join::most:
                    answer.value = std::max(answer.value, next.value);
                    break;
            }
        }
        if (more != 0) answer.series += " and " + std::to_string(more) + " more";
        return answer;
    }

    void refuse(const ExpositionSample& sample) {
        if (!refused_.empty()) return;
        refused_ = series_of(sample) + " = " + shown(sample.value);
        if (!sample.type.empty()) refused_.append(" (typed ").append(sample.type).append(")");
    }

    void see_rate(const ExpositionSample& sample, const PlainName& plain, std::string_view bean) {
        const bool broker_pool = plain.contains("_requesthandleravgidle") ||
                                 plain.contains("_brokerrequesthandleravgidle") || bean == kAggregateBean ||
                                 bean == kBrokerBean;
        if (rate_.empty() && broker_pool) rate_ = series_of(sample) + " = " + shown(sample.value);
    }

    std::array<std::vector<Found>, kRowCount> found_{};
    std::string refused_;  ///< a series of the idle counter's name whose value cannot be one
    std::string rate_;     ///< a smoothed reading of the broker's pool
    bool controller_pool_ = false;
    bool exporter_failed_ = false;
};

bool is_broker_row(const SignalRow& row) {
    return row.bean == kBrokerBean || row.name.find("brokerrequesthandler") != std::string_view::npos;
}

tl::unexpected<Error> bad_reply(std::string message) {
    return tl::unexpected(Error{ErrorCode::bad_reply, std::move(message)});
}

std::string beginning(std::string_view text) {
    std::string start{text.substr(0, 40)};
    std::replace_if(start.begin(), start.end(), [](char c) { return c < ' ' || c > '~'; }, ' ');
    return "\"" + start + "\"";
}

void fill_sample(ScrapeReading& reading) {
    const auto value = [&](const char* signal) -> std::optional<double> {
        const auto at = reading.signals.find(signal);
        return at == reading.signals.end() ? std::nullopt : std::optional{at->second};
    };
    reading.sample.idle_ns = value("io_idle_ns");
    reading.sample.isr_shrinks = value("isr_shrinks");
    reading.sample.isr_expands = value("isr_expands");
    reading.sample.under_replicated = value("under_replicated");
    reading.sample.offline_partitions = value("offline_partitions");
    reading.sample.bytes_in = value("bytes_in");
    reading.sample.messages_in = value("messages_in");
    reading.sample.process_start_s = value("process_start_s");
    reading.sample.network_idle = value("network_idle");
}

}  // namespace

tl::expected<ScrapeReading, Error> read_scrape(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return bad_reply("the page is empty: not metrics");
    if (text[first] == '<') {
        return bad_reply("the page is HTML, not metrics: exporters serve metrics under /metrics");
    }
    Findings findings;
    const auto stats = parse_exposition(text, &Findings::wanted,
                                        [&](const ExpositionSample& sample) { findings.add(sample); });
    if (stats.samples == 0) {
        return bad_reply("the page is not metrics in Prometheus' text format; it begins with " +
                         beginning(text.substr(first)));
    }
    const auto idle = findings.answer(kIdle);
    if (!idle) return bad_reply(findings.why_no_idle());
    if (idle->contradictory) {
        return bad_reply("several series of the idle counter disagree (" + idle->series +
                         "): is this the page of several brokers? Scrape each broker's own exporter");
    }
    const bool broker_meter = is_broker_row(kRows[idle->row]);
    if (!broker_meter && findings.controller_pool()) {
        return bad_reply("the scrape has the controller's pool but no counter of the broker's own, and " +
                         idle->series + " mixes the two; " + std::string{kExporterRule});
    }

    ScrapeReading reading;
    reading.broker_meter = broker_meter;
    for (const auto& row : kRows) {
        if (reading.signals.contains(std::string{row.signal})) continue;
        const auto answer = findings.answer(row.signal);
        if (!answer || answer->contradictory) continue;
        reading.signals.emplace(row.signal, answer->value);
        reading.series.emplace(row.signal, answer->series);
    }
    fill_sample(reading);
    return reading;
}

}  // namespace brink

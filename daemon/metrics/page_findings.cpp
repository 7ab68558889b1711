#include "daemon/metrics/page_findings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace brink {
namespace {

/// A pool collects a millisecond of idle time in the first moments of a broker's life; shares and percents
/// stay far below.
constexpr double kLeastIdleNs = 1e6;
/// Two pools that mark one meter read about 2.
constexpr double kMostIdle = 2.2;
constexpr double kMostPercent = 101;

std::string_view label(const ExpositionSample& sample, std::string_view name) {
    for (const auto& [key, value] : sample.labels) {
        if (key == name) return value;
    }
    return {};
}

bool fits(const ProfileSeries& series, const ExpositionSample& sample) {
    for (const auto& [name, wanted] : series.labels) {
        const auto value = label(sample, name);
        const bool same =
            wanted.starts_with('*') ? value.ends_with(std::string_view{wanted}.substr(1)) : value == wanted;
        if (!same) return false;
    }
    return series.types.empty() ||
           std::find(series.types.begin(), series.types.end(), sample.type) != series.types.end();
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

}  // namespace

std::string plain_name(std::string_view name) {
    if (name.size() > 6 && name.ends_with("_total")) name.remove_suffix(6);
    std::string plain{name};
    std::transform(plain.begin(), plain.end(), plain.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return plain;
}

bool believable(SeriesKind kind, double value) {
    if (!std::isfinite(value)) return false;
    switch (kind) {
        case SeriesKind::counter_ns:
            return value >= kLeastIdleNs && value == std::floor(value);
        case SeriesKind::counter:
            return value >= 0 && value == std::floor(value);
        case SeriesKind::gauge_1m:
            return value >= 0 && value <= kMostIdle;
        case SeriesKind::busy_percent:
            return value >= 0 && value <= kMostPercent;
        case SeriesKind::busy_seconds:
        case SeriesKind::rate_1m:
            return value >= 0;
        case SeriesKind::mean:
        case SeriesKind::gauge:
            return true;
    }
    return false;
}

void PageFindings::add(const ExpositionSample& sample, const std::vector<std::size_t>& rows) {
    bool used = false;
    bool called_counter = false;
    for (const auto row : rows) {
        const auto& series = rows_[row].series;
        if (!fits(series, sample)) continue;
        if (!believable(series.kind, sample.value)) {
            called_counter = called_counter || series.kind == SeriesKind::counter_ns;
            continue;
        }
        found_[row].push_back({series_of(sample), sample.value, !label(sample, "topic").empty()});
        used = true;
    }
    if (used || !called_counter || !not_nanoseconds_.empty()) return;
    not_nanoseconds_ = series_of(sample) + " = " + shown(sample.value);
    if (!sample.type.empty()) not_nanoseconds_.append(" (typed ").append(sample.type).append(")");
}

std::size_t PageFindings::score(std::size_t profile) const {
    std::size_t points = 0;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        const auto& [series, profiles] = rows_[row];
        if (found_[row].empty() || series.signal == "process_start_s") continue;  // any process has that one
        if (std::find(profiles.begin(), profiles.end(), profile) == profiles.end()) continue;
        ++points;
    }
    return points;
}

std::optional<PageFindings::Answer> PageFindings::answer(std::span<const std::size_t> rows) const {
    // The series over all topics of any row beat sums over topics: a sum misses what was deleted.
    for (const bool of_topic : {false, true}) {
        for (const auto row : rows) {
            std::vector<Found> series;
            for (const auto& found : found_[row]) {
                if (found.of_topic == of_topic) series.push_back(found);
            }
            if (!series.empty()) return join(row, std::move(series));
        }
    }
    return std::nullopt;
}

std::vector<double> PageFindings::values(std::size_t row) const {
    auto series = found_[row];
    std::ranges::sort(series, {}, &Found::series);
    std::vector<double> values;
    values.reserve(series.size());
    for (const auto& found : series) values.push_back(found.value);
    return values;
}

PageFindings::Answer PageFindings::join(std::size_t row, std::vector<Found> series) const {
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
        switch (rows_[row].series.join) {
            case Join::one:
                answer.contradictory = answer.contradictory || next.value != answer.value;
                break;
            case Join::sum:
                answer.value += next.value;
                break;
            case Join::least:
                if (next.value < answer.value) answer.value = next.value, answer.series = next.series;
                break;
            case Join::most:
                if (next.value > answer.value) answer.value = next.value, answer.series = next.series;
                break;
        }
    }
    if (more != 0) answer.series += " and " + std::to_string(more) + " more";
    return answer;
}

}  // namespace brink

#include "daemon/metrics/stored_scrapes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>

namespace brink::prometheus {

namespace {

constexpr std::string_view kUp = "up";
constexpr std::string_view kTook = "scrape_duration_seconds";
/// What Prometheus puts before a label of the exporter's that its target has as well.
constexpr std::string_view kExported = "exported_";

std::string own_name(const std::string& label, const Labels& target) {
    if (!label.starts_with(kExported)) return label;
    auto rest = label.substr(kExported.size());
    return target.contains(rest) ? rest : label;
}

void append_escaped(std::string& text, const std::string& value) {
    for (const char c : value) {
        if (c == '\n') {
            text += "\\n";
            continue;
        }
        if (c == '"' || c == '\\') text += '\\';
        text += c;
    }
}

/// `name{label="value"} `, without what Prometheus added.
std::string head_of(const StoredSeries& series, const Labels& target) {
    std::string text = series.name;
    char before = '{';
    for (const auto& [label, value] : series.labels) {
        const bool added = target.contains(label);
        if (added) continue;
        text += before;
        text.append(own_name(label, target)).append("=\"");
        append_escaped(text, value);
        text += '"';
        before = ',';
    }
    if (before == ',') text += '}';
    return text += ' ';
}

/// The `# TYPE` line that a family needs before its samples; empty where nobody knows. Old exporters type
/// `x_total` and sample `x`, OpenMetrics the other way about.
std::string type_line(const std::string& name, const std::map<std::string, std::string>& types) {
    auto found = types.find(name);
    if (found == types.end()) found = types.find(name + "_total");
    constexpr std::array<std::string_view, 5> kSuffixes{"_total", "_count", "_sum", "_bucket", "_info"};
    for (const auto suffix : kSuffixes) {
        if (found != types.end()) break;
        if (name.ends_with(suffix)) found = types.find(name.substr(0, name.size() - suffix.size()));
    }
    return found == types.end() ? "" : "# TYPE " + found->first + " " + found->second + "\n";
}

}  // namespace

std::vector<Labels> targets_of(const std::vector<StoredSeries>& series) {
    std::set<Labels> targets;
    for (const auto& s : series) {
        if (s.name == kUp) targets.insert(s.labels);
    }
    if (!targets.empty()) return {targets.begin(), targets.end()};
    for (const auto& s : series) {
        Labels target;
        for (const char* label : {"instance", "job"}) {
            if (const auto found = s.labels.find(label); found != s.labels.end()) target.insert(*found);
        }
        targets.insert(std::move(target));
    }
    return {targets.begin(), targets.end()};
}

std::vector<StoredScrape> scrapes_of(std::vector<StoredSeries> series, const PageRules& rules,
                                     std::int64_t after_ms) {
    // Families in one piece, so that one `# TYPE` line serves each.
    std::stable_sort(series.begin(), series.end(),
                     [](const StoredSeries& a, const StoredSeries& b) { return a.name < b.name; });
    std::map<std::int64_t, StoredScrape> scrapes;
    std::map<std::int64_t, std::string> typed;  // family whose line a page has last
    for (const auto& s : series) {
        const auto head = head_of(s, rules.target);
        const auto type = type_line(s.name, rules.types);
        for (const auto& sample : s.samples) {
            if (sample.at_ms <= after_ms) continue;
            auto& scrape = scrapes[sample.at_ms];
            scrape.at_ms = sample.at_ms;
            if (s.name == kUp) {
                scrape.up = sample.value == "1";
            } else if (s.name == kTook) {
                const double took_s = std::strtod(sample.value.c_str(), nullptr);
                if (std::isfinite(took_s) && took_s >= 0) scrape.took_s = took_s;
            } else {
                auto& last = typed[sample.at_ms];
                if (last != s.name) scrape.page += type;
                last = s.name;
                scrape.page.append(head).append(sample.value).append("\n");
            }
        }
    }
    std::vector<StoredScrape> in_order;
    in_order.reserve(scrapes.size());
    for (auto& [at_ms, scrape] : scrapes) in_order.push_back(std::move(scrape));
    return in_order;
}

std::optional<double> interval_of(const std::vector<StoredSeries>& series) {
    std::set<std::int64_t> times;
    for (const auto& s : series) {
        for (const auto& sample : s.samples) times.insert(sample.at_ms);
    }
    if (times.size() < 2) return std::nullopt;
    std::vector<std::int64_t> steps;
    for (auto at = std::next(times.begin()); at != times.end(); ++at) steps.push_back(*at - *std::prev(at));
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
    std::nth_element(steps.begin(), middle, steps.end());
    return static_cast<double>(*middle) / 1e3;
}

}  // namespace brink::prometheus

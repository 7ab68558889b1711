#include "config/metrics_profile.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "config/toml_table.hpp"
#include "metrics_profile_texts.hpp"

namespace brink {
namespace {

constexpr std::array<std::pair<std::string_view, SeriesKind>, 8> kKinds{
    {{"counter_ns", SeriesKind::counter_ns},
     {"gauge_1m", SeriesKind::gauge_1m},
     {"mean", SeriesKind::mean},
     {"busy_seconds", SeriesKind::busy_seconds},
     {"busy_percent", SeriesKind::busy_percent},
     {"counter", SeriesKind::counter},
     {"rate_1m", SeriesKind::rate_1m},
     {"gauge", SeriesKind::gauge}}};
constexpr std::array<std::pair<std::string_view, Pool>, 3> kPools{
    {{"broker", Pool::broker}, {"aggregate", Pool::aggregate}, {"controller", Pool::controller}}};
constexpr std::array<std::pair<std::string_view, Join>, 4> kJoins{
    {{"one", Join::one}, {"sum", Join::sum}, {"least", Join::least}, {"most", Join::most}}};

template <class T, std::size_t N>
std::optional<T> choice(TomlTable& table, const std::string& key,
                        const std::array<std::pair<std::string_view, T>, N>& choices) {
    const auto text = table.text(key);
    if (!text) return std::nullopt;
    std::string known;
    for (const auto& [name, value] : choices) {
        if (name == *text) return value;
        known += (known.empty() ? "" : ", ") + std::string{name};
    }
    table.fault(key, "must be one of " + known + ", not '" + *text + "'");
    return std::nullopt;
}

/// A broker's idle meter has one value; of shards the busiest counts.
Join usual_join(SeriesKind kind) {
    const bool meter =
        kind == SeriesKind::counter_ns || kind == SeriesKind::gauge_1m || kind == SeriesKind::mean;
    const bool shards = kind == SeriesKind::busy_seconds || kind == SeriesKind::busy_percent;
    return meter ? Join::one : shards ? Join::most : Join::sum;
}

tl::expected<ProfileSeries, Error> read_series(TomlTable& table) {
    ProfileSeries series;
    series.signal = table.required("signal");
    series.name = table.required("name");
    if (std::any_of(series.name.begin(), series.name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }) ||
        series.name.ends_with("_total")) {
        table.fault("name",
                    "must be in lower case and without a final _total, as both are ignored in a scrape");
    }
    const auto kind = choice(table, "kind", kKinds);
    if (!kind) table.fault("kind", "is required");
    series.kind = kind.value_or(SeriesKind::gauge);
    series.pool = choice(table, "pool", kPools).value_or(Pool::aggregate);
    series.join = choice(table, "join", kJoins).value_or(usual_join(series.kind));
    series.labels = table.properties("labels");
    series.types = table.texts("types").value_or(std::vector<std::string>{});
    const bool of_idle = series.kind <= SeriesKind::busy_percent;
    if (of_idle != (series.signal == "io_idle")) {
        table.fault("kind",
                    "counter_ns, gauge_1m, mean, busy_seconds and busy_percent are for the signal io_idle, "
                    "and for it alone");
    }
    if (auto ok = table.finish(); !ok) return tl::unexpected(ok.error());
    return series;
}

}  // namespace

tl::expected<MetricsProfile, Error> parse_metrics_profile(const std::string& text,
                                                          const std::string& origin) {
    const auto parsed = parse_toml(text, origin);
    if (!parsed) return tl::unexpected(parsed.error());
    MetricsProfile profile;
    TomlTable table(*parsed, origin, "");
    profile.name = table.required("name");
    profile.exporter = table.text("exporter").value_or(profile.name);
    profile.source = table.text("source").value_or("");
    profile.refused_because = table.text("refused_because").value_or("");
    for (auto& child : table.tables("series")) {
        auto series = read_series(child);
        if (!series) return tl::unexpected(series.error());
        profile.series.push_back(std::move(*series));
    }
    if (profile.series.empty()) table.fault("series", "is required: what this exporter calls each signal");
    if (auto ok = table.finish(); !ok) return tl::unexpected(ok.error());
    return profile;
}

tl::expected<MetricsProfile, Error> read_metrics_profile(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    if (!file) {
        return tl::unexpected(Error{ErrorCode::configuration,
                                    "cannot read the metrics profile " + path + ": is the path right?"});
    }
    return parse_metrics_profile(text, path);
}

const std::vector<MetricsProfile>& shipped_profiles() {
    static const auto profiles = [] {
        std::vector<MetricsProfile> all;
        for (const auto& [file, text] : kMetricsProfileTexts) {
            auto profile = parse_metrics_profile(text, file);
            if (!profile) throw std::logic_error(profile.error().message);
            all.push_back(std::move(*profile));
        }
        return all;
    }();
    return profiles;
}

const char* to_string(SeriesKind kind) {
    for (const auto& [name, value] : kKinds) {
        if (value == kind) return name.data();
    }
    return "";
}

}  // namespace brink

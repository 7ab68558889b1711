#include "daemon/metrics/page_recognition.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "daemon/metrics/exposition.hpp"

namespace brink {
namespace {

/// The rule to add where an exporter leaves the counter out; the names it makes are in the profiles.
constexpr std::string_view kExporterRule =
    "add to the JMX exporter's rules, before any rule that matches this bean: \"- pattern: "
    "kafka.server<type=KafkaRequestHandlerPool, name=(.+)><>Count\", \"  name: "
    "kafka_server_kafkarequesthandlerpool_$1_count\", \"  type: COUNTER\"";

/// One pool reads at most a little over 1; clearly below 1 there cannot be a second one that idles.
constexpr double kMoreThanOnePool = 1.1;
constexpr double kOnePoolAlone = 0.95;

/// What may stand for idle, best first.
constexpr std::array<std::pair<SeriesKind, Pool>, 6> kIdlePreference{{
    {SeriesKind::counter_ns, Pool::broker},
    {SeriesKind::counter_ns, Pool::aggregate},
    {SeriesKind::busy_seconds, Pool::aggregate},
    {SeriesKind::busy_percent, Pool::aggregate},
    {SeriesKind::gauge_1m, Pool::broker},
    {SeriesKind::gauge_1m, Pool::aggregate},
}};

bool has_word(const std::string& plain, std::string_view word) {
    return plain.find(word) != std::string::npos;
}

/// The first average of a broker's pool under whatever name: rules that nobody wrote a profile of.
std::string some_average(std::string_view page) {
    std::string found;
    const auto wanted = [](std::string_view name) { return has_word(plain_name(name), "requesthandler"); };
    parse_exposition(page, wanted, [&](const ExpositionSample& sample) {
        const auto plain = plain_name(sample.name);
        const bool other_pool =
            has_word(plain, "controllerrequesthandler") || has_word(plain, "controlplane");
        bool other_bean = false;
        for (const auto& [key, value] : sample.labels)
            other_bean = other_bean || value.starts_with("Controller") || value.starts_with("ControlPlane");
        if (found.empty() && !other_pool && !other_bean) {
            found = std::string{sample.name};
            for (const auto& [key, value] : sample.labels) {
                if (key == "name") found += fmt::format("{{name=\"{}\"}}", value);
            }
            found += fmt::format(" = {:.6g}", sample.value);
        }
    });
    return found;
}

/// Everything about one page, on the way to a Recognition.
class PageReader {
  public:
    PageReader(const std::vector<MetricsProfile>& profiles, std::span<const SignalReader::Row> rows,
               const PageFindings& findings)
        : profiles_(profiles), rows_(rows), findings_(findings), best_(best_profile()) {
        if (best_) {
            out_.profile = profiles_[*best_].name;
            out_.exporter = profiles_[*best_].exporter;
        }
    }

    Recognition read(const ExporterState& exporter) {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const auto& signal = rows_[i].series.signal;
            if (findings_.has(i) && signal != "io_idle") read_signal(signal);
        }
        read_idle();
        out_.mode = mode();
        if (!out_.signals.contains("io_idle") && out_.refused.empty()) out_.refused = why_no_idle(exporter);
        return std::move(out_);
    }

  private:
    std::optional<std::size_t> best_profile() const {
        std::optional<std::size_t> best;
        std::size_t most = 0;
        for (std::size_t i = 0; i < profiles_.size(); ++i) {
            const auto points = findings_.score(i);
            if (points > most) best = i, most = points;
        }
        return best;
    }

    /// The rows that `wanted` accepts, those of the page's own profile first.
    template <class Wanted>
    std::vector<std::size_t> rows_where(Wanted wanted) const {
        std::vector<std::size_t> rows;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (findings_.has(i) && wanted(rows_[i].series)) rows.push_back(i);
        }
        std::stable_partition(rows.begin(), rows.end(), [&](std::size_t i) {
            const auto& profiles = rows_[i].profiles;
            return best_ && std::find(profiles.begin(), profiles.end(), *best_) != profiles.end();
        });
        return rows;
    }

    void read_signal(const std::string& signal) {
        if (out_.signals.contains(signal)) return;
        const auto answer =
            findings_.answer(rows_where([&](const ProfileSeries& s) { return s.signal == signal; }));
        if (!answer || answer->contradictory) return;
        out_.signals.emplace(signal,
                             SignalValue{answer->value, answer->series, rows_[answer->row].series.kind});
    }

    void read_idle() {
        for (const auto& [kind, pool] : kIdlePreference) {
            const auto rows = rows_where(
                [&, k = kind, p = pool](const ProfileSeries& s) { return s.kind == k && s.pool == p; });
            const auto answer = findings_.answer(rows);
            if (!answer) continue;
            if (answer->contradictory) {
                out_.refused = "several series of the idle counter disagree (" + answer->series +
                               "): is this the page of several brokers? Scrape each broker's own exporter";
                return;
            }
            if (pool == Pool::aggregate && controller_pool()) {
                out_.refused =
                    "the scrape has the controller's pool but no counter of the broker's own, and " +
                    answer->series + " mixes the two; " + std::string{kExporterRule};
                return;
            }
            out_.broker_meter = pool == Pool::broker;
            out_.signals.emplace("io_idle", SignalValue{answer->value, answer->series, kind});
            if (kind == SeriesKind::busy_seconds) out_.busy_s = findings_.values(answer->row);
            if (kind == SeriesKind::gauge_1m) {
                out_.notes.emplace_back(
                    "idle is a one-minute average: windows need 120 s and more, after it has settled; "
                    "better " +
                    std::string{kExporterRule});
            }
            return;
        }
    }

    bool controller_pool() const {
        return !rows_where([](const ProfileSeries& s) { return s.pool == Pool::controller; }).empty();
    }

    PoolMode mode() {
        if (controller_pool()) return PoolMode::combined;
        const auto idle = out_.signals.find("io_idle");
        if (idle != out_.signals.end() &&
            (idle->second.kind == SeriesKind::busy_seconds || idle->second.kind == SeriesKind::busy_percent))
            return PoolMode::broker;
        // Averages are no good for a verdict, but they show how many pools mark the meter.
        const auto averages = rows_where([](const ProfileSeries& s) {
            return (s.kind == SeriesKind::gauge_1m || s.kind == SeriesKind::mean) &&
                   s.pool == Pool::aggregate;
        });
        double least = 2;
        double most = 0;
        for (const auto row : averages) {
            for (const double value : findings_.values(row)) {
                least = std::min(least, value);
                most = std::max(most, value);
            }
        }
        if (most > kMoreThanOnePool) {
            if (!out_.broker_meter) {
                out_.notes.emplace_back(
                    "a combined node before Kafka 4.2: the controller's pool marks the same meter, which "
                    "reads "
                    "about 2 at rest; its share at rest is subtracted, never divided");
            }
            return PoolMode::combined;
        }
        if (out_.broker_meter || least < kOnePoolAlone) return PoolMode::broker;
        return averages.empty() || out_.signals.contains("active_controller") ? PoolMode::unknown
                                                                              : PoolMode::broker;
    }

    /// Why there is no idle signal, and what to do.
    std::string why_no_idle(const ExporterState& exporter) const {
        const std::string rule{kExporterRule};
        if (exporter.failed) {
            return "the exporter could not read its broker (jmx_scrape_error is not 0): is the broker up, "
                   "and does "
                   "the exporter's JMX address fit?";
        }
        if (best_ && !profiles_[*best_].refused_because.empty()) {
            return profiles_[*best_].refused_because +
                   ": no idle counter (Count of kafka.server:type=KafkaRequestHandlerPool,"
                   "name=RequestHandlerAvgIdlePercent). Point brink at a JMX exporter in each broker, and " +
                   rule;
        }
        if (!findings_.not_nanoseconds().empty()) {
            return "no idle counter: " + findings_.not_nanoseconds() + " is not a count of nanoseconds; " +
                   rule;
        }
        if (const auto rate = some_average(exporter.page); !rate.empty()) {
            return "no idle counter: the scrape has only " + rate +
                   ", an average over minutes or over the broker's whole life (MeanRate) that cannot judge a "
                   "window; " +
                   rule;
        }
        if (exporter.alone) {
            return "no idle counter: the exporter answers, but with none of its broker's beans (JMX down? "
                   "jmx_scrape_error lags a scrape behind): unknown is not idle";
        }
        return "no idle counter (Count of "
               "kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent) "
               "in the scrape: is this a broker's JMX exporter? If so, " +
               rule;
    }

    const std::vector<MetricsProfile>& profiles_;
    std::span<const SignalReader::Row> rows_;
    const PageFindings& findings_;
    std::optional<std::size_t> best_;
    Recognition out_;
};

}  // namespace

Recognition recognise_page(const std::vector<MetricsProfile>& profiles,
                           std::span<const SignalReader::Row> rows, const PageFindings& findings,
                           const ExporterState& exporter) {
    return PageReader{profiles, rows, findings}.read(exporter);
}

}  // namespace brink

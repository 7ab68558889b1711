#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/metrics/prometheus_answer.hpp"

/// Samples that a Prometheus server stored, as the scrapes they came from. Pure.
namespace brink::prometheus {

/// One scrape that Prometheus made: all samples of one timestamp.
struct StoredScrape {
    std::int64_t at_ms = 0;          ///< when it began, on the server's clock
    std::optional<bool> up{};        ///< whether the target answered; nothing where the server does not say
    std::optional<double> took_s{};  ///< how long it took to answer
    std::string page{};  ///< the exporter's part, in the text format again; empty when there is none
};

/// The target labels of each target that these series came from: those of `up`, or else instance and job.
std::vector<Labels> targets_of(const std::vector<StoredSeries>& series);

/// What turns stored series back into what the exporter showed.
struct PageRules {
    Labels target{};                             ///< labels that Prometheus added: left out
    std::map<std::string, std::string> types{};  ///< by family, since stored series have none
};

/// The scrapes after `after_ms`, oldest first. A label that Prometheus renamed because its target has one of
/// that name (`exported_…`) gets its own name back.
std::vector<StoredScrape> scrapes_of(std::vector<StoredSeries> series, const PageRules& rules,
                                     std::int64_t after_ms);

/// The median of the times between consecutive scrapes in seconds; nothing with fewer than two.
std::optional<double> interval_of(const std::vector<StoredSeries>& series);

}  // namespace brink::prometheus

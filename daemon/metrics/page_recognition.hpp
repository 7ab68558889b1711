#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "daemon/metrics/page_findings.hpp"
#include "daemon/metrics/signal_reader.hpp"

namespace brink {

/// What a page says about the exporter itself.
struct ExporterState {
    std::string_view page{};
    bool failed = false;  ///< it says that it could not read its broker
    bool alone = false;   ///< there is nothing on the page but its own metrics
};

/// Which exporter a page is of, what each signal reads, and whether a load can be judged by it. Pure.
Recognition recognise_page(const std::vector<MetricsProfile>& profiles,
                           std::span<const SignalReader::Row> rows, const PageFindings& findings,
                           const ExporterState& exporter);

}  // namespace brink

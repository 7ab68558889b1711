#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/metrics/saved_series.hpp"
#include "daemon/metrics/signal_reader.hpp"

/// What `brink signals` and `brink judge` print. Pure.
namespace brink::cli {

/// One source as an object: source, judgeable, reason, profile, exporter, mode, notes, flags and signals; a
/// signal that is not there is null.
nlohmann::json signals_document(const std::string& source, const Recognition& page);
std::vector<std::string> signals_lines(const std::string& source, const Recognition& page);

nlohmann::json judge_document(const SeriesVerdict& series);
std::vector<std::string> judge_lines(const SeriesVerdict& series);

}  // namespace brink::cli

#pragma once
#include <cstdint>

#include "storage/database.hpp"
#include "storage/rows.hpp"

/// Each adds one event, within the transaction that is open. The bodies are small: they say what changed;
/// figures in them have 15 digits, the exact ones are in the rows. Throw SQLite::Exception.
namespace brink::storage {

void add_sweep_created(Database& database, std::int64_t at_ms, const SweepRow& sweep, std::int64_t points);
void add_sweep_state(Database& database, std::int64_t at_ms, const SweepRow& sweep);
void add_point_state(Database& database, std::int64_t at_ms, const PointRow& point);
void add_trial_started(Database& database, std::int64_t at_ms, const TrialRow& trial);
void add_trial_finished(Database& database, std::int64_t at_ms, const TrialRow& trial);

}  // namespace brink::storage

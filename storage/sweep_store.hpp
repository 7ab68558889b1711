#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"
#include "storage/rows.hpp"

namespace brink::storage {

template <class T>
using Result = tl::expected<T, Error>;

/// The database of a controller: one SQLite file, one connection on a thread of its own (WAL,
/// synchronous=FULL, exclusive). A call that returns a value has committed. Thread-safe: calls queue for the
/// thread and wait for it. Errors: `storage` naming the file and SQLite's words; `conflict` where the key is
/// taken, the state forbids it, or another process holds the file; `not_found` where the row, or the one it
/// belongs to, does not exist. A failed write leaves nothing half-written, and the store goes on. Numbers
/// that are not finite are stored as none.
class SweepStore {
  public:
    /// Opens or creates the file and migrates it. Refused before anything is written: not a database, damaged
    /// (integrity check), a newer schema, held by another process, read-only, a directory that does not
    /// exist. `now_ms` stamps the events (unix milliseconds UTC); it is called on the store's thread.
    static Result<std::unique_ptr<SweepStore>> open(const std::filesystem::path& file,
                                                    std::function<std::int64_t()> now_ms = system_now_ms);
    /// The system's clock in unix milliseconds UTC.
    static std::int64_t system_now_ms();
    ~SweepStore();
    SweepStore(const SweepStore&) = delete;
    SweepStore& operator=(const SweepStore&) = delete;

    /// A number that only grows, across restarts: what fences an old controller.
    Result<std::int64_t> next_epoch();

    /// Stores a sweep and its points in one transaction, with a `sweep_created` event.
    Result<void> create_sweep(const SweepRow& sweep, const std::vector<PointRow>& points);
    /// Replaces state, reason, times, fingerprint, rest and topic of a sweep; adds a `sweep_<state>` event
    /// when the state changed.
    Result<void> update_sweep(const SweepRow& sweep);
    /// Replaces a point; adds a `point_<state>` event when the state changed.
    Result<void> update_point(const PointRow& point);
    /// Before the load goes on: the trial is on record as running, with a `trial_started` event. A trial that
    /// is still running may begin again (after a crash); one that has ended is a conflict.
    Result<void> begin_trial(const TrialRow& trial);
    /// Before anyone acts on it: outcome, samples, reports and a `trial_finished` event, all or nothing. The
    /// state must be finished or void; samples and reports must be of this trial. Errors: not_found, conflict
    /// (ended already).
    Result<void> finish_trial(const TrialRow& trial, const std::vector<SampleRow>& samples,
                              const std::vector<AgentReportRow>& reports);
    /// Removes an ended sweep and all that belongs to it. Errors: not_found, conflict (still running).
    Result<void> delete_sweep(const std::string& id);

    Result<std::optional<SweepRow>> sweep(const std::string& id);
    /// Newest first; `before` is an id to go on from.
    Result<std::vector<SweepRow>> sweeps(int limit, const std::optional<std::string>& before = std::nullopt);
    /// Sweeps whose state is pending, running, paused or stopping.
    Result<std::vector<SweepRow>> unfinished_sweeps();
    Result<std::vector<PointRow>> points(const std::string& sweep_id);
    Result<std::vector<TrialRow>> trials(const std::string& sweep_id);
    Result<std::optional<TrialRow>> trial(const std::string& sweep_id, int trial);
    Result<std::vector<SampleRow>> samples(const std::string& sweep_id, int trial);
    Result<std::vector<AgentReportRow>> agent_reports(const std::string& sweep_id, int trial);
    Result<std::vector<EventRow>> events(const std::string& sweep_id, std::int64_t after, int limit);

    /// The view `curve` of a sweep as RFC 4180 text with its header line (columns of 4-interfaces.md).
    /// Numbers are written so that reading them back gives the same double. Every reader of a curve goes
    /// through here.
    Result<std::string> curve_csv(const std::string& sweep_id);
    /// A consistent copy by SQLite's online backup, into a file that must not exist.
    Result<void> backup(const std::filesystem::path& to);
    /// Does a write and a read work right now? For /readyz.
    Result<void> probe();

  private:
    struct Impl;
    explicit SweepStore(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace brink::storage

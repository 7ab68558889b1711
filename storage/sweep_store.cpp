#include "storage/sweep_store.hpp"

#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Transaction.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "storage/backup.hpp"
#include "storage/curve_export.hpp"
#include "storage/database.hpp"
#include "storage/events.hpp"
#include "storage/row_sql.hpp"
#include "storage/sqlite_error.hpp"
#include "storage/store_thread.hpp"

namespace brink::storage {
namespace {

tl::unexpected<Error> fault(ErrorCode code, std::string message) {
    return tl::make_unexpected(Error{code, std::move(message)});
}

std::string name_of(const std::string& sweep_id, int trial) {
    return "trial " + std::to_string(trial) + " of sweep " + sweep_id;
}

/// The one text that a query for a state returns, or nothing.
std::optional<std::string> first_text(Query& query) {
    std::optional<std::string> text;
    if (query.step()) query.read(0, text);
    return text;
}

std::optional<std::string> state_of_sweep(Database& database, const std::string& id) {
    auto query = database.query("SELECT state FROM sweeps WHERE id = ?");
    return first_text(query.bind(id));
}

std::optional<std::string> state_of_point(Database& database, const PointRow& point) {
    auto query = database.query("SELECT state FROM points WHERE sweep_id = ? AND point = ?");
    return first_text(query.bind(point.sweep_id).bind(point.point));
}

std::optional<std::string> state_of_trial(Database& database, const TrialRow& trial) {
    auto query = database.query("SELECT state FROM trials WHERE sweep_id = ? AND trial = ?");
    return first_text(query.bind(trial.sweep_id).bind(trial.trial));
}

template <class Row>
void insert(Database& database, const Row& row) {
    static const std::string kSql = insert_sql<Row>();
    auto query = database.query(kSql);
    bind_all(query, row);
    query.run();
}

template <class Row>
void update(Database& database, const Row& row) {
    static const std::string kSql = update_sql<Row>();
    auto query = database.query(kSql);
    bind_update(query, row);
    query.run();
}

/// All rows of a statement with these values bound.
template <class Row, class... Values>
std::vector<Row> select(Database& database, const std::string& rest, const Values&... values) {
    auto query = database.query(select_sql<Row>(rest));
    (query.bind(values), ...);
    return read_rows<Row>(query);
}

template <class Row>
std::optional<Row> only(std::vector<Row> rows) {
    if (rows.empty()) return std::nullopt;
    return std::move(rows.front());
}

}  // namespace

struct SweepStore::Impl {
    std::filesystem::path file;
    std::function<std::int64_t()> now_ms;
    StoreThread thread;
    std::unique_ptr<Database> database;

    Impl(std::filesystem::path path, std::function<std::int64_t()> clock)
        : file(std::move(path)), now_ms(std::move(clock)) {}
    ~Impl() {
        thread.run([this] { database.reset(); });
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    /// Runs `work(database)` on the thread; what SQLite throws becomes an error that says what was being
    /// done.
    template <class Work>
    auto read(const std::string& doing, Work work) -> Result<std::invoke_result_t<Work&, Database&>> {
        return thread.run([&]() -> Result<std::invoke_result_t<Work&, Database&>> {
            try {
                return work(*database);
            } catch (const SQLite::Exception& thrown) {
                return tl::make_unexpected(sqlite_error(doing, file, thrown));
            }
        });
    }

    /// The same in a transaction, for work that returns a Result. It is committed when that is a value;
    /// rolled back when it is an error, when the work throws, and when the commit fails.
    template <class Work>
    auto write(const std::string& doing, Work work) -> std::invoke_result_t<Work&, Database&> {
        return thread.run([&]() -> std::invoke_result_t<Work&, Database&> {
            try {
                SQLite::Transaction transaction(database->connection());
                auto result = work(*database);
                if (result) transaction.commit();
                return result;
            } catch (const SQLite::Exception& thrown) {
                return tl::make_unexpected(sqlite_error(doing, file, thrown));
            }
        });
    }
};

SweepStore::SweepStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SweepStore::~SweepStore() = default;

std::int64_t SweepStore::system_now_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Result<std::unique_ptr<SweepStore>> SweepStore::open(const std::filesystem::path& file,
                                                     std::function<std::int64_t()> now_ms) {
    auto impl = std::make_unique<Impl>(file, std::move(now_ms));
    auto opened = impl->thread.run([&file] { return Database::open(file); });
    if (!opened) return tl::make_unexpected(opened.error());
    impl->database = std::move(*opened);
    return std::unique_ptr<SweepStore>(new SweepStore(std::move(impl)));
}

Result<std::int64_t> SweepStore::next_epoch() {
    return impl_->write("taking the next epoch", [](Database& database) -> Result<std::int64_t> {
        database.query("UPDATE meta SET epoch = epoch + 1").run();
        auto query = database.query("SELECT epoch FROM meta");
        std::int64_t epoch = 0;
        query.step();
        query.read(0, epoch);
        return epoch;
    });
}

Result<void> SweepStore::create_sweep(const SweepRow& sweep, const std::vector<PointRow>& points) {
    return impl_->write("storing sweep " + sweep.id, [&](Database& database) -> Result<void> {
        insert(database, sweep);
        for (const PointRow& point : points) {
            if (point.sweep_id != sweep.id)
                return fault(ErrorCode::internal,
                             "a point of sweep " + point.sweep_id + " came with sweep " + sweep.id);
            insert(database, point);
        }
        add_sweep_created(database, impl_->now_ms(), sweep, std::ssize(points));
        return {};
    });
}

Result<void> SweepStore::update_sweep(const SweepRow& sweep) {
    return impl_->write("updating sweep " + sweep.id, [&](Database& database) -> Result<void> {
        const auto before = state_of_sweep(database, sweep.id);
        if (!before) return fault(ErrorCode::not_found, "there is no sweep " + sweep.id);
        update(database, sweep);
        if (*before != sweep.state) add_sweep_state(database, impl_->now_ms(), sweep);
        return {};
    });
}

Result<void> SweepStore::update_point(const PointRow& point) {
    const std::string name = "point " + std::to_string(point.point) + " of sweep " + point.sweep_id;
    return impl_->write("updating " + name, [&](Database& database) -> Result<void> {
        const auto before = state_of_point(database, point);
        if (!before) return fault(ErrorCode::not_found, "there is no " + name);
        update(database, point);
        if (*before != point.state) add_point_state(database, impl_->now_ms(), point);
        return {};
    });
}

Result<void> SweepStore::begin_trial(const TrialRow& trial) {
    const std::string name = name_of(trial.sweep_id, trial.trial);
    if (trial.state != "running")
        return fault(ErrorCode::internal, name + " begins in state " + trial.state + ", not running");
    return impl_->write("storing the start of " + name, [&](Database& database) -> Result<void> {
        static const std::string kSql = upsert_sql<TrialRow>("state = 'running'");
        auto query = database.query(kSql);
        bind_all(query, trial);
        if (query.run() == 0)
            return fault(ErrorCode::conflict, name + " has ended already and cannot begin again");
        add_trial_started(database, impl_->now_ms(), trial);
        return {};
    });
}

Result<void> SweepStore::finish_trial(const TrialRow& trial, const std::vector<SampleRow>& samples,
                                      const std::vector<AgentReportRow>& reports) {
    const std::string name = name_of(trial.sweep_id, trial.trial);
    if (trial.state == "running") return fault(ErrorCode::internal, name + " ends in state running");
    const auto of_this = [&trial](const auto& row) {
        return row.sweep_id == trial.sweep_id && row.trial == trial.trial;
    };
    if (!std::ranges::all_of(samples, of_this) || !std::ranges::all_of(reports, of_this))
        return fault(ErrorCode::internal, "samples or reports of another trial came with " + name);
    return impl_->write("storing the outcome of " + name, [&](Database& database) -> Result<void> {
        const auto before = state_of_trial(database, trial);
        if (!before) return fault(ErrorCode::not_found, "there is no " + name);
        if (*before != "running") return fault(ErrorCode::conflict, name + " is " + *before + " already");
        update(database, trial);
        for (const SampleRow& sample : samples) insert(database, sample);
        for (const AgentReportRow& report : reports) insert(database, report);
        add_trial_finished(database, impl_->now_ms(), trial);
        return {};
    });
}

Result<void> SweepStore::delete_sweep(const std::string& id) {
    return impl_->write("deleting sweep " + id, [&](Database& database) -> Result<void> {
        const auto state = state_of_sweep(database, id);
        if (!state) return fault(ErrorCode::not_found, "there is no sweep " + id);
        if (*state != "succeeded" && *state != "failed" && *state != "cancelled")
            return fault(ErrorCode::conflict,
                         "sweep " + id + " is " + *state + "; cancel it before deleting it");
        database.query("DELETE FROM sweeps WHERE id = ?").bind(id).run();
        return {};
    });
}

Result<std::optional<SweepRow>> SweepStore::sweep(const std::string& id) {
    return impl_->read("reading sweep " + id, [&](Database& database) {
        return only(select<SweepRow>(database, "WHERE id = ?", id));
    });
}

Result<std::vector<SweepRow>> SweepStore::sweeps(int limit, const std::optional<std::string>& before) {
    const int most = std::max(limit, 0);  // a negative LIMIT would be none
    if (!before)
        return impl_->read("listing sweeps", [&](Database& database) {
            return select<SweepRow>(database, "ORDER BY seq DESC LIMIT ?", most);
        });
    return impl_->write("listing sweeps", [&](Database& database) -> Result<std::vector<SweepRow>> {
        if (!state_of_sweep(database, *before))
            return fault(ErrorCode::not_found, "there is no sweep " + *before);
        return select<SweepRow>(database,
                                "WHERE seq < (SELECT seq FROM sweeps WHERE id = ?) ORDER BY seq DESC LIMIT ?",
                                *before, most);
    });
}

Result<std::vector<SweepRow>> SweepStore::unfinished_sweeps() {
    return impl_->read("listing unfinished sweeps", [](Database& database) {
        return select<SweepRow>(
            database, "WHERE state IN ('pending', 'running', 'paused', 'stopping') ORDER BY seq DESC");
    });
}

Result<std::vector<PointRow>> SweepStore::points(const std::string& sweep_id) {
    return impl_->read("reading the points of sweep " + sweep_id, [&](Database& database) {
        return select<PointRow>(database, "WHERE sweep_id = ? ORDER BY point", sweep_id);
    });
}

Result<std::vector<TrialRow>> SweepStore::trials(const std::string& sweep_id) {
    return impl_->read("reading the trials of sweep " + sweep_id, [&](Database& database) {
        return select<TrialRow>(database, "WHERE sweep_id = ? ORDER BY trial", sweep_id);
    });
}

Result<std::optional<TrialRow>> SweepStore::trial(const std::string& sweep_id, int trial) {
    return impl_->read("reading " + name_of(sweep_id, trial), [&](Database& database) {
        return only(select<TrialRow>(database, "WHERE sweep_id = ? AND trial = ?", sweep_id, trial));
    });
}

Result<std::vector<SampleRow>> SweepStore::samples(const std::string& sweep_id, int trial) {
    return impl_->read("reading the samples of " + name_of(sweep_id, trial), [&](Database& database) {
        return select<SampleRow>(database, "WHERE sweep_id = ? AND trial = ? ORDER BY seq", sweep_id, trial);
    });
}

Result<std::vector<AgentReportRow>> SweepStore::agent_reports(const std::string& sweep_id, int trial) {
    return impl_->read("reading the reports of " + name_of(sweep_id, trial), [&](Database& database) {
        return select<AgentReportRow>(database, "WHERE sweep_id = ? AND trial = ? ORDER BY seq", sweep_id,
                                      trial);
    });
}

Result<std::vector<EventRow>> SweepStore::events(const std::string& sweep_id, std::int64_t after, int limit) {
    return impl_->read("reading the events of sweep " + sweep_id, [&](Database& database) {
        return select<EventRow>(database, "WHERE sweep_id = ? AND seq > ? ORDER BY seq LIMIT ?", sweep_id,
                                after, std::max(limit, 0));
    });
}

Result<std::string> SweepStore::curve_csv(const std::string& sweep_id) {
    return impl_->read("reading the curve of sweep " + sweep_id,
                       [&](Database& database) { return storage::curve_csv(database, sweep_id); });
}

Result<void> SweepStore::backup(const std::filesystem::path& to) {
    return back_up(impl_->thread, *impl_->database, to);
}

Result<void> SweepStore::probe() {
    return impl_->write("probing", [](Database& database) -> Result<void> {
        database.query("UPDATE meta SET probes = probes + 1").run();
        auto query = database.query("SELECT probes FROM meta");
        if (!query.step()) return fault(ErrorCode::storage, "the database lost its row of facts");
        return {};
    });
}

}  // namespace brink::storage

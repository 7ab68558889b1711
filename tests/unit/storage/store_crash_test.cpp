#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>

#include "storage/sweep_store.hpp"
#include "store_fixture.hpp"

namespace brink::storage {
namespace {

namespace fs = std::filesystem;

TEST_CASE("SweepStore: a second process is refused, and changes nothing, while the first one works") {
    const TemporaryDirectory place;
    make_database(place.file());
    const Pipe go;
    const Child second([&] {
        if (go.hear() != 1) return 2;
        struct stat before{};
        struct stat after{};
        stat(place.file().c_str(), &before);
        const std::string bytes = bytes_of(place.file());
        const auto store = SweepStore::open(place.file());
        stat(place.file().c_str(), &after);
        if (store) return 3;
        if (store.error().code != ErrorCode::conflict) return 4;
        if (store.error().message.find("another brinkd?") == std::string::npos) return 5;
        if (bytes_of(place.file()) != bytes || before.st_mtim.tv_nsec != after.st_mtim.tv_nsec) return 6;
        return fs::exists(place.file("brink.db-wal")) ? 0 : 7;
    });
    const auto store = opened(place.file());
    go.say(1);
    CHECK(second.answer() == 0);
    CHECK(store->probe());
    const auto third = SweepStore::open(place.file());  // within the process it is no different
    REQUIRE_FALSE(third);
    CHECK(third.error().code == ErrorCode::conflict);
    CHECK(store->probe());
}

/// Opens, then ends trial after trial and says the number of each that was acknowledged.
int write_trials_until_killed(const fs::path& file, const Pipe& done) {
    const auto store = SweepStore::open(file);
    if (!store) return 1;
    if (!(*store)->create_sweep(a_sweep("k"), {a_point("k", 0)})) return 2;
    for (int n = 1;; ++n) {
        const TrialRow trial = a_trial("k", n);
        if (!(*store)->begin_trial(trial)) return 3;
        if (!(*store)->finish_trial(ended(trial), some_samples(trial, 3, 4), some_reports(trial))) return 4;
        done.say(n);
    }
}

TEST_CASE("SweepStore: a killed process loses nothing that it was told is stored") {
    const TemporaryDirectory place;
    for (int round = 0; round < 5; ++round) {
        const fs::path file = place.file(("round" + std::to_string(round)).c_str());
        const Pipe done;
        const Child child([&] { return write_trials_until_killed(file, done); });
        const int enough = 5 + 37 * round;
        int acknowledged = 0;
        while (acknowledged >= 0 && acknowledged < enough) acknowledged = done.hear();
        REQUIRE(acknowledged == enough);
        kill(child.id(), SIGKILL);
        CHECK(child.answer() == -1);
        CHECK(fs::exists(file.string() + "-wal"));  // a log to recover, not a reason to refuse

        const auto store = opened(file);
        const auto trials = store->trials("k").value();
        int whole = 0;
        for (const TrialRow& trial : trials) {
            const bool finished = trial.state == "finished";
            if (finished) ++whole;
            CHECK(store->samples("k", trial.trial).value().size() == (finished ? 12 : 0));
            CHECK(store->agent_reports("k", trial.trial).value().size() == (finished ? 2 : 0));
        }
        CHECK(whole >= acknowledged);
        CHECK(static_cast<int>(trials.size()) <= whole + 1);
        CHECK(store->probe());
    }
}

TEST_CASE("SweepStore: a database that was killed and then damaged is refused with its log untouched") {
    const TemporaryDirectory place;
    const Pipe done;
    const Child child([&] {
        {
            make_database(place.file());
        }
        const auto store = SweepStore::open(place.file());
        if (!store || !(*store)->next_epoch()) return 1;
        done.say(1);
        return pause();
    });
    REQUIRE(done.hear() == 1);
    kill(child.id(), SIGKILL);
    CHECK(child.answer() == -1);
    std::string bytes = bytes_of(place.file());
    bytes.replace(8192, 4096, std::string(4096, '\x05'));
    write_bytes(place.file(), bytes);
    const std::string log = bytes_of(place.file("brink.db-wal"));
    REQUIRE(log.size() > 4096);
    CHECK_FALSE(SweepStore::open(place.file()));
    CHECK(bytes_of(place.file()) == bytes);
    CHECK(bytes_of(place.file("brink.db-wal")) == log);
    CHECK(place.names().size() == 2);
}

bool limit_file_size(rlim_t most) {
    struct rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = most;
    return setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

/// Writes trials until there is no more room. An answer other than 0 says which line was not so.
int run_out_of_room(const fs::path& file) {
    std::signal(SIGXFSZ, SIG_IGN);  // the write fails instead
    auto opening = SweepStore::open(file);
    if (!opening) return __LINE__;
    auto store = std::move(*opening);
    if (!store->create_sweep(a_sweep("f"), {a_point("f", 0)})) return __LINE__;
    if (!limit_file_size(rlim_t{256} * 1024)) return __LINE__;
    TrialRow trial = a_trial("f", 0);
    Result<void> stored;
    while (stored && trial.trial < 1000) {
        trial = a_trial("f", trial.trial + 1);
        stored = store->begin_trial(trial);
        if (stored)
            stored = store->finish_trial(ended(trial), some_samples(trial, 3, 40), some_reports(trial));
    }
    if (stored || trial.trial < 2) return __LINE__;
    if (stored.error().code != ErrorCode::storage) return __LINE__;
    if (stored.error().message.find(file.string()) == std::string::npos) return __LINE__;
    // Nothing half-written, and what was there can be read.
    const auto trials = store->trials("f");
    if (!trials) return __LINE__;
    for (const TrialRow& row : *trials) {
        const auto samples = store->samples("f", row.trial);
        if (!samples || samples->size() != (row.state == "finished" ? 120U : 0U)) return __LINE__;
    }
    // Full stays full, also for a backup, which leaves nothing.
    const fs::path copy = file.parent_path() / "copy.db";
    for (int i = 0; i < 3; ++i)
        if (store->finish_trial(ended(trial), some_samples(trial, 30, 40), some_reports(trial)))
            return __LINE__;
    if (!limit_file_size(rlim_t{16} * 1024) || store->backup(copy) || fs::exists(copy)) return __LINE__;
    // There is room again: the same store goes on.
    if (!limit_file_size(RLIM_INFINITY)) return __LINE__;
    if (!store->begin_trial(trial)) return __LINE__;
    if (!store->finish_trial(ended(trial), some_samples(trial, 3, 40), some_reports(trial))) return __LINE__;
    if (!store->backup(copy)) return __LINE__;
    store.reset();
    opening = SweepStore::open(file);
    if (!opening || (*opening)->trials("f")->size() != static_cast<std::size_t>(trial.trial)) return __LINE__;
    return (*opening)->samples("f", trial.trial)->size() == 120 ? 0 : __LINE__;
}

TEST_CASE(
    "SweepStore: no room is an error that leaves nothing half-written, and is over when there is room") {
    const TemporaryDirectory place;
    const Pipe line;
    const Child child([&] {
        line.say(run_out_of_room(place.file()));
        return 0;
    });
    CHECK(child.answer() == 0);
    CHECK(line.hear() == 0);  // else the line of run_out_of_room that was not so
    CHECK(place.names().size() == 2);
}

TEST_CASE("SweepStore: where there is no room for a new database, none is left") {
    const TemporaryDirectory place;
    const Child child([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        if (!limit_file_size(8192)) return 1;
        return SweepStore::open(place.file()) ? 2 : 0;
    });
    CHECK(child.answer() == 0);
    CHECK(place.names().empty());
}

}  // namespace
}  // namespace brink::storage

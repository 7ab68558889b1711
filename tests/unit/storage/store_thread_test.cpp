#include "storage/store_thread.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "store_fixture.hpp"

namespace brink::storage {
namespace {

TEST_CASE("StoreThread: one job at a time, on one thread, in order; what a job throws reaches its caller") {
    StoreThread thread;
    const auto first = thread.run([] { return std::this_thread::get_id(); });
    CHECK(first != std::this_thread::get_id());
    int sum = 0;  // guarded by the thread alone
    std::vector<std::thread> callers;
    callers.reserve(8);
    for (int i = 0; i < 8; ++i)
        callers.emplace_back([&] {
            for (int n = 0; n < 200; ++n) thread.run([&] { ++sum; });
        });
    for (auto& caller : callers) caller.join();
    CHECK(thread.run([&] { return sum; }) == 1600);
    CHECK_THROWS_AS(thread.run([]() -> int { throw std::out_of_range("x"); }), std::out_of_range);
    CHECK_THROWS_AS(thread.run([&] { thread.run([] {}); }), std::logic_error);
    CHECK(thread.run([] { return std::this_thread::get_id(); }) == first);
}

TEST_CASE("SweepStore: eight threads at once each see what they wrote") {
    const TemporaryDirectory place;
    const auto store = opened(place.file());
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    callers.reserve(8);
    for (int i = 0; i < 8; ++i)
        callers.emplace_back([&, id = "t" + std::to_string(i)] {
            if (!store->create_sweep(a_sweep(id), {a_point(id, 0)})) ++wrong;
            for (int n = 1; n <= 20; ++n) {
                const TrialRow trial = a_trial(id, n);
                if (!store->begin_trial(trial)) ++wrong;
                if (!store->finish_trial(ended(trial), some_samples(trial, 2, 3), some_reports(trial)))
                    ++wrong;
                if (store->samples(id, n).value().size() != 6) ++wrong;
                if (!store->next_epoch() || !store->curve_csv(id) || !store->probe()) ++wrong;
            }
            if (store->trials(id).value().size() != 20) ++wrong;
        });
    for (auto& caller : callers) caller.join();
    CHECK(wrong == 0);
    CHECK(store->sweeps(100).value().size() == 8);
    CHECK(store->next_epoch().value() == 161);
}

TEST_CASE("SweepStore: a backup taken while others write is one consistent file with the view") {
    const TemporaryDirectory place;
    const auto store = opened(place.file());
    PointRow point = a_point("s1", 0);
    REQUIRE(store->create_sweep(a_sweep("s1"), {point}));
    point.state = "done";
    point.measured_msgs_per_s = 1.0 / 3.0;
    REQUIRE(store->update_point(point));
    std::atomic<bool> stop{false};
    std::atomic<int> written{0};
    std::thread writer([&] {
        for (int n = 1; !stop; ++n) {
            const TrialRow trial = a_trial("s1", n);
            if (!store->begin_trial(trial) ||
                !store->finish_trial(ended(trial), some_samples(trial, 3, 40), some_reports(trial)))
                return;
            written = n;
        }
    });
    while (written < 30) std::this_thread::yield();
    for (int i = 0; i < 5; ++i) {
        const auto file = place.file(("copy" + std::to_string(i) + ".db").c_str());
        const int before = written;
        const auto copied = store->backup(file);
        const std::string why = copied ? "" : copied.error().message;
        INFO(why);
        REQUIRE(copied);
        struct stat facts{};
        REQUIRE(stat(file.c_str(), &facts) == 0);
        CHECK((facts.st_mode & 0777) == 0600);
        SQLite::Database copy(file.string(), SQLite::OPEN_READONLY);
        CHECK(copy.execAndGet("PRAGMA integrity_check").getString() == "ok");
        CHECK(copy.execAndGet("PRAGMA journal_mode").getString() == "delete");
        CHECK(copy.execAndGet("SELECT measured_msgs_per_s FROM curve").getDouble() == 1.0 / 3.0);
        const int finished = copy.execAndGet("SELECT count(*) FROM trials WHERE state = 'finished'").getInt();
        CHECK(finished >= before);
        CHECK(copy.execAndGet("SELECT count(*) FROM samples").getInt() == finished * 120);
    }
    stop = true;
    writer.join();
    CHECK(written > 30);

    const auto again = store->backup(place.file("copy0.db"));
    REQUIRE_FALSE(again);
    CHECK(again.error().code == ErrorCode::conflict);
    CHECK_FALSE(store->backup(place.file("missing") / "copy.db"));
    CHECK(store->backup(place.file()).error().code == ErrorCode::conflict);
    // Only the copies, the database and its log: no leftovers.
    CHECK(place.names().size() == 7);

    // A copy put in place works as a database.
    const auto restored = opened(place.file("copy4.db"));
    CHECK(restored->probe());
    CHECK(restored->points("s1").value().at(0).measured_msgs_per_s == 1.0 / 3.0);
}

TEST_CASE("SweepStore: a trial of three brokers with forty scrapes each is stored in a few milliseconds") {
    const TemporaryDirectory place;
    const auto store = opened(place.file());
    REQUIRE(store->create_sweep(a_sweep("s1"), {a_point("s1", 0)}));
    constexpr int kTrials = 200;
    const auto start = std::chrono::steady_clock::now();
    for (int n = 1; n <= kTrials; ++n) {
        const TrialRow trial = a_trial("s1", n);
        REQUIRE(store->begin_trial(trial));
        REQUIRE(store->finish_trial(ended(trial), some_samples(trial, 3, 40), some_reports(trial)));
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    MESSAGE("begin_trial + finish_trial: " << took.count() / kTrials << " ms");
    CHECK(took.count() / kTrials < 250);  // a trial lasts minutes; this only finds the absurd
}

}  // namespace
}  // namespace brink::storage

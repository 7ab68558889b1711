#include "storage/database.hpp"

#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <random>

#include "storage/database_file.hpp"
#include "storage/schema.hpp"
#include "store_fixture.hpp"

namespace brink::storage {
namespace {

namespace fs = std::filesystem;

/// What must not change when a file is refused.
struct Untouched {
    explicit Untouched(const TemporaryDirectory& place) {
        for (const auto& entry : fs::directory_iterator(place.path())) {
            struct stat facts{};
            lstat(entry.path().c_str(), &facts);
            const bool regular = S_ISREG(facts.st_mode);
            seen.push_back(entry.path().filename().string() + " " + std::to_string(facts.st_mode) + " " +
                           std::to_string(facts.st_ino) + " " + std::to_string(facts.st_mtim.tv_sec) + "." +
                           std::to_string(facts.st_mtim.tv_nsec) + " " +
                           (regular ? bytes_of(entry.path()) : ""));
        }
        std::ranges::sort(seen);
    }
    bool operator==(const Untouched&) const = default;
    std::vector<std::string> seen;
};

/// The reason why the file is refused; fails when it is not, or when anything in its directory changed.
Error refusal(const TemporaryDirectory& place, const fs::path& file) {
    const Untouched before(place);
    const auto store = SweepStore::open(file);
    REQUIRE_FALSE(store);
    CHECK(Untouched(place) == before);
    return store.error();
}

bool says(const Error& error, const std::string& words) {
    INFO(error.message);
    const bool found = error.message.find(words) != std::string::npos;
    CHECK(found);
    return found;
}

void change(const fs::path& file, const std::string& sql) {
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec(sql);
}

TEST_CASE("Database: what is no database of brink is refused untouched") {
    const TemporaryDirectory place;
    SUBCASE("text") {
        write_bytes(place.file(), std::string(5000, 'x') + "\n");
        says(refusal(place, place.file()), "not a database");
    }
    SUBCASE("a few bytes") {
        write_bytes(place.file(), "SQLite format 3");
        refusal(place, place.file());
    }
    SUBCASE("nothing at all") {
        write_bytes(place.file(), "");
        says(refusal(place, place.file()), "is empty");
    }
    SUBCASE("another program's database") {
        SQLite::Database(place.file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
            .exec("CREATE TABLE t (a); INSERT INTO t VALUES (1)");
        says(refusal(place, place.file()), "another program");
    }
    SUBCASE("another program's database in WAL mode") {
        SQLite::Database(place.file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
            .exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a)");
        says(refusal(place, place.file()), "another program");
    }
    SUBCASE("a directory") {
        fs::create_directory(place.file());
        says(refusal(place, place.file()), "not a regular file");
    }
    SUBCASE("a pipe") {
        REQUIRE(mkfifo(place.file().c_str(), 0600) == 0);
        says(refusal(place, place.file()), "not a regular file");
    }
}

TEST_CASE("Database: a damaged file is refused untouched") {
    const TemporaryDirectory place;
    make_database(place.file());
    const std::string whole = bytes_of(place.file());
    SUBCASE("cut within a page") { write_bytes(place.file(), whole.substr(0, whole.size() - 100)); }
    SUBCASE("cut between pages") { write_bytes(place.file(), whole.substr(0, whole.size() - 4096)); }
    SUBCASE("cut to its first page") { write_bytes(place.file(), whole.substr(0, 4096)); }
    SUBCASE("a page of zeros") {
        write_bytes(place.file(), whole.substr(0, 8192) + std::string(4096, '\0') + whole.substr(12'288));
    }
    SUBCASE("a page of noise") {
        std::string noise(4096, '\0');
        std::mt19937 random(3);  // NOLINT: the same noise each time
        for (char& byte : noise) byte = static_cast<char>(random());
        write_bytes(place.file(), whole.substr(0, 16'384) + noise + whole.substr(20'480));
    }
    SUBCASE("a header that forbids writing") {
        // Write version 3: a format of the future that today's SQLite reads but does not write.
        write_bytes(place.file(), whole.substr(0, 18) + '\x03' + whole.substr(19));
    }
    CHECK(refusal(place, place.file()).code == ErrorCode::storage);
}

TEST_CASE("Database: a newer or altered schema is refused untouched") {
    const TemporaryDirectory place;
    make_database(place.file());
    SUBCASE("newer") {
        change(place.file(), "PRAGMA user_version = " + std::to_string(newest_schema() + 1));
        says(refusal(place, place.file()), "newer");
    }
    SUBCASE("a trigger") {
        change(
            place.file(),
            "CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM trials; END; PRAGMA wal_checkpoint");
        says(refusal(place, place.file()), "tables are not those");
    }
    SUBCASE("a view that says something else") {
        change(place.file(), "DROP VIEW curve; CREATE VIEW curve AS SELECT 1 AS sweep_id");
        says(refusal(place, place.file()), "tables are not those");
    }
    SUBCASE("a version of which there is none") {
        change(place.file(), "PRAGMA user_version = 0");
        says(refusal(place, place.file()), "tables are not those");
    }
}

TEST_CASE("Database: a file of schema 1 is migrated, and keeps what it holds") {
    const TemporaryDirectory place;
    {
        SQLite::Database old(place.file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        old.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
        migrate(old, 1);
        old.exec(
            "INSERT INTO sweeps VALUES (1, 's1', 'local', 'n', '{}', 1, 5, 'succeeded', '', 't', '{}', '[]', "
            "6, 7);"
            "INSERT INTO points (sweep_id, point, message_bytes, factors_json, state, state_reason, "
            "limited_by,"
            " evidence, flags, trials) VALUES ('s1', 0, 100, '{}', 'done', '', 'io_idle', 'proxy_only', '', "
            "3)");
    }
    const auto store = opened(place.file());
    const auto points = store->points("s1").value();
    REQUIRE(points.size() == 1);
    CHECK(points[0].limited_by == "io_idle");
    CHECK(points[0].first_crossings_json == "[]");
    CHECK(store->curve_csv("s1"));
}

TEST_CASE("Database: a place that cannot be written or trusted is refused untouched") {
    const TemporaryDirectory place;
    SUBCASE("no such directory") {
        says(refusal(place, place.path() / "missing" / "brink.db"), "no directory");
    }
    SUBCASE("a read-only file") {
        make_database(place.file());
        REQUIRE(chmod(place.file().c_str(), 0400) == 0);
        says(refusal(place, place.file()), "read-only");
    }
    SUBCASE("a read-only directory") {
        make_database(place.file());
        REQUIRE(chmod(place.path().c_str(), 0500) == 0);
        says(refusal(place, place.file()), "read-only");
        says(refusal(place, place.file("new.db")), "read-only");
    }
    SUBCASE("a symbolic link, also to nothing") {
        make_database(place.file("real.db"));
        fs::create_symlink(place.file("real.db"), place.file());
        fs::create_symlink(place.file("nothing.db"), place.file("dangling.db"));
        says(refusal(place, place.file()), "symbolic link");
        says(refusal(place, place.file("dangling.db")), "symbolic link");
    }
    SUBCASE("a log without its database") {
        write_bytes(place.file("brink.db-wal"), "x");
        says(refusal(place, place.file()), "-wal");
    }
    SUBCASE("a rollback journal") {
        make_database(place.file());
        write_bytes(place.file("brink.db-journal"), "x");
        says(refusal(place, place.file()), "journal");
    }
    SUBCASE("no name") { says(refusal(place, place.path() / ""), "names no file"); }
}

TEST_CASE("is_network_file_system: knows NFS and its like by their statfs type") {
    CHECK(is_network_file_system(0x6969));
    CHECK(is_network_file_system(static_cast<long>(0xff534d42)));
    CHECK(is_network_file_system(static_cast<int>(0xff534d42)));  // sign-extended
    CHECK_FALSE(is_network_file_system(0xef53));                  // ext4
    CHECK_FALSE(is_network_file_system(0x01021994));              // tmpfs
}

TEST_CASE("Database: runs with the settings that were promised") {
    const TemporaryDirectory place;
    make_database(place.file());
    const auto database = Database::open(place.file());
    REQUIRE(database);
    auto& connection = (*database)->connection();
    const auto setting = [&connection](const char* name) {
        return connection.execAndGet(std::string("PRAGMA ") + name).getString();
    };
    CHECK(setting("journal_mode") == "wal");
    CHECK(setting("synchronous") == "2");
    CHECK(setting("locking_mode") == "exclusive");
    CHECK(setting("foreign_keys") == "1");
    CHECK(setting("trusted_schema") == "0");
    CHECK(setting("cell_size_check") == "1");
    CHECK(setting("query_only") == "0");
    CHECK(setting("application_id") == std::to_string(kApplicationId));
    CHECK(setting("user_version") == std::to_string(newest_schema()));
    CHECK_THROWS(connection.exec("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema"));
    CHECK_FALSE(fs::exists(place.file("brink.db-shm")));
}

TEST_CASE("Database: a relative path and a directory behind a link are fine") {
    const TemporaryDirectory place;
    fs::create_directory(place.file("real"));
    fs::create_directory_symlink(place.file("real"), place.file("linked"));
    REQUIRE(opened(place.file("linked") / "brink.db")->probe());
    CHECK(fs::exists(place.file("real") / "brink.db"));
    const fs::path here = fs::current_path();
    fs::current_path(place.path());
    CHECK(SweepStore::open("plain.db"));
    fs::current_path(here);
    CHECK(fs::exists(place.file("plain.db")));
}

/// Does everything work that reads, and a little that writes? What `open` let pass must.
bool works(SweepStore& store) {
    const TrialRow trial = a_trial("s1", 3);
    return store.sweep("s1") && store.sweeps(10) && store.unfinished_sweeps() && store.points("s1") &&
           store.trials("s1") && store.samples("s1", 1) && store.agent_reports("s1", 1) &&
           store.events("s1", 0, 100) && store.curve_csv("s1") && store.begin_trial(trial) &&
           store.finish_trial(ended(trial), some_samples(trial, 1, 2), {});
}

TEST_CASE("Database: a flipped byte is either refused untouched or harmless") {
    const TemporaryDirectory place;
    make_database(place.file());
    const std::string whole = bytes_of(place.file());
    const int flips =
        std::getenv("BRINK_CAMPAIGN") != nullptr ? 1000 : 200;  // NOLINT: read before any thread
    std::mt19937 random(2024);                                  // NOLINT: the same flips each time
    int refused = 0;
    for (int i = 0; i < flips; ++i) {
        std::string bytes = whole;
        // A fifth in the first page: the header and the schema are a small part of the file and the worst to
        // lose.
        const std::size_t where = random() % (i % 5 == 0 ? 4096 : bytes.size());
        bytes[where] = static_cast<char>(bytes[where] ^ static_cast<char>(1 + random() % 255));
        write_bytes(place.file(), bytes);
        INFO("byte " << where << " of flip " << i);
        auto store = SweepStore::open(place.file());
        if (store) {
            CHECK(works(**store));
            store->reset();
        } else {
            ++refused;
            CHECK(bytes_of(place.file()) == bytes);
        }
        CHECK(place.names() == std::vector<std::string>{"brink.db"});
    }
    MESSAGE(refused << " of " << flips << " refused");
    CHECK(refused > 0);
    CHECK(refused < flips);
}

}  // namespace
}  // namespace brink::storage

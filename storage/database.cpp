#include "storage/database.hpp"

#include <SQLiteCpp/Statement.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "storage/database_file.hpp"
#include "storage/schema.hpp"
#include "storage/sqlite_error.hpp"

namespace brink::storage {
namespace {

namespace fs = std::filesystem;

/// No links: the directory is canonical by now.
int open_flags() { return SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX | SQLite::OPEN_NOFOLLOW; }

/// SQLiteCpp has no call for these switches.
void set_switch(SQLite::Database& database, int which, bool on) {
    const int code = sqlite3_db_config(database.getHandle(), which, on ? 1 : 0, nullptr);
    if (code != SQLITE_OK) throw SQLite::Exception(database.getHandle(), code);
}

/// Makes an empty file a database at the newest schema.
void fill(const fs::path& file) {
    SQLite::Database database(file.string(), open_flags());
    // Nobody sees this file before it is whole, so it needs no journal on disk.
    database.execAndGet("PRAGMA journal_mode = MEMORY");
    database.exec("PRAGMA synchronous = FULL");
    database.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
    migrate(database, newest_schema());
}

tl::expected<void, Error> create(const fs::path& file) {
    auto fresh = NewFile::beside_target(file);
    if (!fresh) return tl::make_unexpected(fresh.error());
    fill(fresh->path());
    auto published = fresh->publish();
    // Two programs that start at once: the other one made it, and its lock decides.
    if (!published && published.error().code == ErrorCode::conflict) return {};
    return published;
}

bool is_empty_file(const fs::path& file) {
    struct stat facts{};
    return lstat(file.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == 0;
}

/// SQLiteCpp has no call for it.
bool holds_exclusive_lock(SQLite::Database& database) {
    int level = SQLITE_LOCK_NONE;
    sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_LOCKSTATE, &level);
    return level == SQLITE_LOCK_EXCLUSIVE;
}

tl::unexpected<Error> because(const std::string& why) {
    return tl::make_unexpected(Error{ErrorCode::storage, why});
}

}  // namespace

Database::Database(const fs::path& file) : connection_(file.string(), open_flags()) {}

Query Database::query(const std::string& sql) {
    auto found = statements_.find(sql);
    if (found == statements_.end()) found = statements_.try_emplace(sql, connection_, sql).first;
    return Query(found->second);
}

void Database::configure_before_reading() {
    set_switch(connection_, SQLITE_DBCONFIG_DEFENSIVE, true);
    // Until the file is known to be good, closing it must not fold a log of a crash into it.
    set_switch(connection_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    connection_.exec("PRAGMA trusted_schema = OFF");
    connection_.exec("PRAGMA cell_size_check = ON");
    connection_.exec("PRAGMA query_only = ON");
    // Before the first read: then the lock comes with it, and the index of the log stays in memory (no -shm).
    connection_.execAndGet("PRAGMA locking_mode = EXCLUSIVE");
}

tl::expected<void, Error> Database::configure_for_writing() {
    set_switch(connection_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
    connection_.exec("PRAGMA query_only = OFF");
    connection_.exec("PRAGMA synchronous = FULL");
    connection_.exec("PRAGMA foreign_keys = ON");
    // A backup that was put in place is not in WAL mode. The switch writes one page: by way of MEMORY it
    // leaves no journal that a crash would turn into a file we refuse.
    if (connection_.execAndGet("PRAGMA journal_mode").getString() != "wal") {
        connection_.execAndGet("PRAGMA journal_mode = MEMORY");
        const std::string mode = connection_.execAndGet("PRAGMA journal_mode = WAL").getString();
        if (mode != "wal") return because("its journal mode stays " + mode + " where brink needs wal");
    }
    // A log that one large commit blew up is cut back to 64 MiB.
    connection_.execAndGet("PRAGMA journal_size_limit = 67108864");
    migrate(connection_, newest_schema());
    return {};
}

tl::expected<void, Error> Database::check() {
    // The first read: here SQLite takes the lock, reads a log that a crash left, and looks at the header.
    const int id = connection_.execAndGet("PRAGMA application_id").getInt();
    if (id != kApplicationId)
        return because("it is a database of another program (application_id " + std::to_string(id) +
                       "); set another storage path");
    const int version = connection_.execAndGet("PRAGMA user_version").getInt();
    const std::string newest = std::to_string(newest_schema());
    if (version > newest_schema())
        return because("its schema is version " + std::to_string(version) + ", newer than version " + newest +
                       " of this program; run the newer brinkd, or set another storage path");
    std::string integrity = connection_.execAndGet("PRAGMA integrity_check(1)").getString();
    // SQLite's report has a line a fault; an error here is one line.
    std::replace(integrity.begin(), integrity.end(), '\n', ' ');
    if (integrity != "ok") return because("it is damaged (" + integrity + "); put a backup in its place");
    if (schema_of(connection_) != expected_schema(version))
        return because("its tables are not those that brink made at schema version " +
                       std::to_string(version) + "; put a backup in its place");
    // SQLiteCpp has no call for it. A header may say "do not write" where the file system does not.
    if (sqlite3_db_readonly(connection_.getHandle(), "main") != 0)
        return because("SQLite finds it read-only; put a backup in its place");
    return {};
}

tl::expected<std::unique_ptr<Database>, Error> Database::open(const fs::path& file) {
    const auto found = DatabasePath::inspect(file);
    if (!found) return tl::make_unexpected(found.error());
    const std::string doing = "opening the database";
    const fs::path log = beside(found->file, "-wal");
    const bool log_was_empty = is_empty_file(log);
    std::unique_ptr<Database> database;
    tl::expected<void, Error> usable;
    try {
        if (found->presence == FilePresence::absent) usable = create(found->file);
        if (!usable) return tl::make_unexpected(usable.error().within(doing));
        database.reset(new Database(found->file));
        database->configure_before_reading();
        usable = database->check();
        if (usable) usable = database->configure_for_writing();
        if (usable) return database;
        usable = tl::make_unexpected(
            usable.error().within("the database " + found->file.string() + " is refused"));
    } catch (const SQLite::Exception& thrown) {
        usable = tl::make_unexpected(sqlite_error(doing, found->file, thrown));
    }
    // SQLite made an empty log when it took the lock; it goes before the lock does.
    if (database != nullptr && !log_was_empty && is_empty_file(log) &&
        holds_exclusive_lock(database->connection_))
        unlink(log.c_str());
    return tl::make_unexpected(usable.error());
}

}  // namespace brink::storage

#include "storage/backup.hpp"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/Exception.h>
#include <sqlite3.h>

#include <memory>

#include "storage/database_file.hpp"
#include "storage/sqlite_error.hpp"

namespace brink::storage {
namespace {

/// One megabyte of the usual pages: about a millisecond.
constexpr int kPagesAStep = 256;

struct Copy {
    explicit Copy(Database& from, const std::filesystem::path& file)
        : target(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX),
          steps(target, from.connection()) {}
    SQLite::Database target;
    SQLite::Backup steps;
};

/// Opens the copy. Nobody sees the file before it is whole, so it needs no journal on disk.
std::unique_ptr<Copy> begin(Database& from, const std::filesystem::path& file) {
    auto copy = std::make_unique<Copy>(from, file);
    copy->target.execAndGet("PRAGMA locking_mode = EXCLUSIVE");
    copy->target.exec("PRAGMA synchronous = FULL");
    return copy;
}

/// Copies a part; true when it was the last.
bool step(Copy& copy) {
    const int code = copy.steps.executeStep(kPagesAStep);
    // Nobody else has the copy's file, and the source is ours alone: waiting for a lock would be for ever.
    if (code != SQLITE_OK && code != SQLITE_DONE) throw SQLite::Exception(copy.target.getHandle(), code);
    return code == SQLITE_DONE;
}

}  // namespace

tl::expected<void, Error> back_up(StoreThread& thread, Database& database, const std::filesystem::path& to) {
    const std::string doing = "backing up";
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::symlink_status(to, ignored)))
        return tl::make_unexpected(Error{
            ErrorCode::conflict, to.string() + " exists already and is not replaced; name another file"});
    auto fresh = NewFile::beside_target(to);
    if (!fresh) return tl::make_unexpected(fresh.error().within(doing));
    std::unique_ptr<Copy> copy;
    tl::expected<void, Error> done;
    try {
        thread.run([&] { copy = begin(database, fresh->path()); });
        while (!thread.run([&] { return step(*copy); })) {
        }
    } catch (const SQLite::Exception& thrown) {
        done = tl::make_unexpected(sqlite_error(doing, to, thrown));
    }
    thread.run([&] { copy.reset(); });
    if (!done) return done;
    try {
        thread.run([&] {
            SQLite::Database whole(fresh->path().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX);
            whole.execAndGet("PRAGMA locking_mode = EXCLUSIVE");
            whole.execAndGet("PRAGMA journal_mode = DELETE");
        });
    } catch (const SQLite::Exception& thrown) {
        return tl::make_unexpected(sqlite_error(doing, to, thrown));
    }
    done = fresh->publish();
    return done ? done : tl::make_unexpected(done.error().within(doing));
}

}  // namespace brink::storage

#pragma once
#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <unordered_map>

#include "search/error.hpp"
#include "storage/query.hpp"

namespace brink::storage {

/// The one connection to a controller's database: opened exclusively, checked, migrated, durable (WAL with
/// synchronous=FULL). Belongs to one thread: open, use and destroy it there.
class Database {
  public:
    /// Opens the file, or creates it whole, and migrates it. What is refused is left as it was, byte for
    /// byte: not a database of brink, damaged, altered, newer than this program, read-only, or held by
    /// another process (code conflict; all others code storage). A log left by a crash is recovered.
    static tl::expected<std::unique_ptr<Database>, Error> open(const std::filesystem::path& file);

    /// A statement for one use; prepared once and kept. Throws SQLite::Exception, as all of these do.
    Query query(const std::string& sql);
    SQLite::Database& connection() { return connection_; }

  private:
    explicit Database(const std::filesystem::path& file);
    void configure_before_reading();
    tl::expected<void, Error> check();
    tl::expected<void, Error> configure_for_writing();

    SQLite::Database connection_;
    std::unordered_map<std::string, SQLite::Statement> statements_;  // after the connection: they go first
};

}  // namespace brink::storage

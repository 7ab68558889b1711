#include "storage/schema.hpp"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <algorithm>

#include "storage_migrations.hpp"

namespace brink::storage {

int newest_schema() {
    int newest = 0;
    for (const Migration& migration : kMigrations) newest = std::max(newest, migration.version);
    return newest;
}

void migrate(SQLite::Database& database, int version) {
    const int from = database.execAndGet("PRAGMA user_version").getInt();
    for (const Migration& migration : kMigrations) {
        if (migration.version <= from || migration.version > version) continue;
        SQLite::Transaction transaction(database);
        database.exec(migration.sql);
        database.exec("PRAGMA user_version = " + std::to_string(migration.version));
        transaction.commit();
    }
}

std::vector<std::string> schema_of(SQLite::Database& database) {
    // SQLite's own tables and indexes follow from the others.
    SQLite::Statement statement(database,
                                "SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema"
                                " WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name");
    std::vector<std::string> entries;
    while (statement.executeStep()) entries.push_back(statement.getColumn(0).getString());
    return entries;
}

std::vector<std::string> expected_schema(int version) {
    SQLite::Database fresh(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX);
    migrate(fresh, version);
    return schema_of(fresh);
}

}  // namespace brink::storage

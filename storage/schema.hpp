#pragma once
#include <SQLiteCpp/Database.h>

#include <string>
#include <vector>

/// The schema as a list of migrations that are compiled in. Throws SQLite::Exception.
namespace brink::storage {

/// What marks a file as one of brink's: "brnk".
inline constexpr int kApplicationId = 0x62726e6b;

/// The version that this program writes; the file's `user_version`.
int newest_schema();
/// Brings a database from its `user_version` to `version`, one transaction a migration.
void migrate(SQLite::Database& database, int version);
/// The statement of every table, index, view and trigger, ordered; "NAME: SQL" each.
std::vector<std::string> schema_of(SQLite::Database& database);
/// The same of a database freshly made at that version.
std::vector<std::string> expected_schema(int version);

}  // namespace brink::storage

#pragma once
#include <SQLiteCpp/Exception.h>

#include <filesystem>
#include <string>

#include "search/error.hpp"

namespace brink::storage {

/// What SQLite threw, as an error that names what was being done, the file, SQLite's words and, where there
/// is one, the way out. Codes: conflict (a row of that key exists, or another process holds the file),
/// not_found (a row that this one belongs to does not exist), else storage.
Error sqlite_error(const std::string& doing, const std::filesystem::path& file,
                   const SQLite::Exception& thrown);

/// A failure of the operating system with the text of `error_number`. Code: storage.
Error system_error(const std::string& what, int error_number);

}  // namespace brink::storage

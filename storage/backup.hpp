#pragma once
#include <filesystem>
#include <tl/expected.hpp>

#include "search/error.hpp"
#include "storage/database.hpp"
#include "storage/store_thread.hpp"

namespace brink::storage {

/// Copies `database` into a new file of mode 0600 that appears under its name only when it is whole, in steps
/// on `thread` so that other calls get in between; what they write is in the copy too. The copy is not in WAL
/// mode: it is one file, readable anywhere. Blocks until done. Errors: conflict (the file exists), storage.
tl::expected<void, Error> back_up(StoreThread& thread, Database& database, const std::filesystem::path& to);

}  // namespace brink::storage

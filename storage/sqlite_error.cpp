#include "storage/sqlite_error.hpp"

#include <sqlite3.h>

#include <system_error>

namespace brink::storage {
namespace {

ErrorCode code_of(int extended) {
    switch (extended) {
        case SQLITE_CONSTRAINT_PRIMARYKEY:
        case SQLITE_CONSTRAINT_UNIQUE:
            return ErrorCode::conflict;
        case SQLITE_CONSTRAINT_FOREIGNKEY:
            return ErrorCode::not_found;
        default:
            break;
    }
    return (extended & 0xff) == SQLITE_BUSY ? ErrorCode::conflict : ErrorCode::storage;
}

const char* advice(int extended) {
    switch (extended & 0xff) {
        case SQLITE_FULL:
            return "; the disk is full: free space and try again";
        case SQLITE_IOERR:
            return "; check the disk, its quota and the limit on file size";
        case SQLITE_BUSY:
            return "; another process holds it (another brinkd?): stop that one, or set another storage path";
        case SQLITE_NOTADB:
            return "; this is not a database of brink: set another storage path";
        case SQLITE_CORRUPT:
            return "; the file is damaged: put a backup in its place, or set another storage path";
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_CANTOPEN:
            return "; the file and its directory must be writable for brinkd";
        default:
            return "";
    }
}

}  // namespace

Error sqlite_error(const std::string& doing, const std::filesystem::path& file,
                   const SQLite::Exception& thrown) {
    const int extended = thrown.getExtendedErrorCode();
    return Error{code_of(extended), doing + " in " + file.string() + " failed: " + thrown.what() +
                                        " (SQLite code " + std::to_string(extended) + ")" + advice(extended)};
}

Error system_error(const std::string& what, int error_number) {
    return Error{ErrorCode::storage, what + ": " + std::generic_category().message(error_number)};
}

}  // namespace brink::storage

#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "search/error.hpp"

/// What can be said of a database's file before SQLite sees it, and how a new one appears whole or not at
/// all. Nothing here opens an existing database: closing a descriptor of it would drop SQLite's locks on it.
namespace brink::storage {

enum class FilePresence { absent, present };

/// Where the file is, once everything that can be refused without opening it was refused: no such directory,
/// a directory or file that may not be written (the mode counts for root too), a network file system, a
/// symbolic link, anything but a regular file, an empty file, or logs of SQLite that do not belong to it.
/// Writes nothing. Code: storage.
struct DatabasePath {
    std::filesystem::path file;  ///< absolute, its directory without symbolic links
    FilePresence presence = FilePresence::absent;

    static tl::expected<DatabasePath, Error> inspect(const std::filesystem::path& file);
};

/// Is a file system of that `statfs` type one whose locks and syncs cannot be trusted (NFS, SMB, CIFS, AFS,
/// Coda, Ceph)?
bool is_network_file_system(long type);

/// The file's name with something after it, such as "-wal".
std::filesystem::path beside(const std::filesystem::path& file, const char* suffix);

/// A file of mode 0600 that is filled under a name of its own and appears under `target` only when whole.
/// Removed, with SQLite's logs of it, when it goes unpublished.
class NewFile {
  public:
    /// Code: storage.
    static tl::expected<NewFile, Error> beside_target(const std::filesystem::path& target);
    ~NewFile();
    NewFile(NewFile&& other) noexcept;
    NewFile& operator=(NewFile&&) = delete;
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    /// Where to write. Close it before `publish`.
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// Gives it the target's name and syncs the directory. Never replaces a file: code conflict, else
    /// storage.
    tl::expected<void, Error> publish();

  private:
    NewFile(std::filesystem::path path, std::filesystem::path target);
    std::filesystem::path path_;
    std::filesystem::path target_;
    bool pending_ = true;
};

}  // namespace brink::storage

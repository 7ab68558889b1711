#include "storage/database_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "storage/sqlite_error.hpp"

namespace brink::storage {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> refused(const fs::path& file, const std::string& why) {
    return tl::make_unexpected(
        Error{ErrorCode::storage, "the database " + file.string() + " is refused: " + why});
}

bool is_there(const fs::path& file) {
    struct stat facts{};
    return lstat(file.c_str(), &facts) == 0;
}

bool writable(const fs::path& file, mode_t mode) {
    // Root may write anything, but whoever took the write bits away meant it.
    constexpr mode_t kAnyWrite = S_IWUSR | S_IWGRP | S_IWOTH;
    return (mode & kAnyWrite) != 0 && faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) == 0;
}

/// An empty text, or why no database may lie in that directory.
std::string fault_of_directory(const fs::path& directory) {
    struct stat facts{};
    if (stat(directory.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode))
        return "there is no directory " + directory.string() + "; create it, or set another storage path";
    if (!writable(directory, facts.st_mode))
        return "its directory is read-only for this user, and SQLite keeps its log there; let brinkd write "
               "there";
    struct statfs system{};
    if (statfs(directory.c_str(), &system) == 0 && is_network_file_system(static_cast<long>(system.f_type)))
        return "it lies on a network file system, whose locks cannot be trusted; set a storage path on a "
               "local disk";
    return {};
}

/// An empty text, or why what lies at that name cannot be opened.
std::string fault_of_file(const fs::path& file, const struct stat& facts) {
    if (S_ISLNK(facts.st_mode)) return "it is a symbolic link; set the path of the file itself";
    if (!S_ISREG(facts.st_mode)) return "it is not a regular file; set another storage path";
    if (facts.st_size == 0)
        return "it is empty, which brink never leaves behind; remove it, or put a backup in its place";
    if (!writable(file, facts.st_mode)) return "it is read-only for this user; make it writable for brinkd";
    if (is_there(beside(file, "-journal")))
        return "a rollback journal lies beside it, which brink does not use; another program has written to "
               "it: "
               "put a backup in its place";
    return {};
}

bool sync_directory(const fs::path& directory) {
    const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return false;
    const bool synced = fsync(descriptor) == 0;
    close(descriptor);
    return synced;
}

fs::path directory_of(const fs::path& file) {
    return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

}  // namespace

bool is_network_file_system(long type) {
    // statfs(2): NFS, SMB, SMB2, CIFS, AFS, Coda, Ceph. Types are 32 bits wide, on some systems
    // sign-extended.
    constexpr std::array<unsigned, 7> kTypes = {0x6969,     0x517b,     0xfe534d42, 0xff534d42,
                                                0x5346414f, 0x73757245, 0x00c36400};
    return std::ranges::find(kTypes, static_cast<unsigned>(type)) != kTypes.end();
}

fs::path beside(const fs::path& file, const char* suffix) {
    fs::path other = file;
    other += suffix;
    return other;
}

tl::expected<DatabasePath, Error> DatabasePath::inspect(const fs::path& file) {
    if (file.filename().empty() || file.filename() == "." || file.filename() == "..")
        return refused(file, "the path names no file");
    if (const std::string fault = fault_of_directory(directory_of(file)); !fault.empty())
        return refused(file, fault);
    std::error_code failed;
    const fs::path directory = fs::canonical(directory_of(file), failed);
    if (failed) return refused(file, failed.message());
    DatabasePath found{directory / file.filename(), FilePresence::absent};
    struct stat facts{};
    if (lstat(found.file.c_str(), &facts) == 0) {
        if (const std::string fault = fault_of_file(found.file, facts); !fault.empty())
            return refused(file, fault);
        found.presence = FilePresence::present;
        return found;
    }
    if (errno != ENOENT) return tl::make_unexpected(system_error("the database " + file.string(), errno));
    for (const char* suffix : {"-wal", "-journal"})
        // A new database would take the log for its own.
        if (is_there(beside(found.file, suffix)))
            return refused(file, "the file is missing, but its log " + beside(found.file, suffix).string() +
                                     " is there; put both back, or remove the log");
    return found;
}

NewFile::NewFile(fs::path path, fs::path target) : path_(std::move(path)), target_(std::move(target)) {}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      pending_(std::exchange(other.pending_, false)) {}

tl::expected<NewFile, Error> NewFile::beside_target(const fs::path& target) {
    static std::atomic<unsigned> number{0};
    const std::string name = "." + target.filename().string() + ".new-" + std::to_string(getpid()) + "-" +
                             std::to_string(++number);
    fs::path path = directory_of(target) / name;
    const int descriptor =
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (descriptor < 0) return tl::make_unexpected(system_error("creating " + path.string(), errno));
    close(descriptor);
    return NewFile(std::move(path), target);
}

NewFile::~NewFile() {
    if (!pending_) return;
    unlink(path_.c_str());
    for (const char* suffix : {"-wal", "-shm", "-journal"}) unlink(beside(path_, suffix).c_str());
}

tl::expected<void, Error> NewFile::publish() {
    int failed =
        renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
    // Some file systems cannot promise not to replace: there, look first.
    if (failed == EINVAL || failed == ENOSYS) {
        failed = EEXIST;
        if (!is_there(target_)) failed = std::rename(path_.c_str(), target_.c_str()) == 0 ? 0 : errno;
    }
    if (failed == EEXIST)
        return tl::make_unexpected(
            Error{ErrorCode::conflict,
                  target_.string() + " exists already and is not replaced; name another file"});
    if (failed != 0) return tl::make_unexpected(system_error("creating " + target_.string(), failed));
    pending_ = false;
    if (!sync_directory(directory_of(target_)))
        return tl::make_unexpected(system_error("syncing the directory of " + target_.string(), errno));
    return {};
}

}  // namespace brink::storage

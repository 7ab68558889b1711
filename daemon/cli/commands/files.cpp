#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "daemon/cli/commands/commands.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/format.hpp"
#include "daemon/cli/sweep_lookup.hpp"

namespace brink::cli {
namespace {

constexpr std::chrono::milliseconds kBackupDeadline{15 * 60 * 1'000};
constexpr std::size_t kLargestBackup = 8ULL * 1024 * 1024 * 1024;
constexpr std::size_t kLargestCurve = 64UL * 1024 * 1024;

Error cannot(const char* doing, const std::string& path) {
    return Error{ErrorCode::invalid_input,
                 fmt::format("cannot {} {}: {}", doing, path, std::generic_category().message(errno))};
}

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

/// Writes beside the target, syncs, and renames: the file is there whole or not at all. Readable by its owner
/// only, since the database tells of clusters.
tl::expected<void, Error> write_whole(const std::string& path, const std::string& content) {
    const std::string beside = fmt::format("{}.{}.part", path, ::getpid());
    const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return tl::unexpected{cannot("create", beside)};
    std::unique_ptr<std::FILE, Close> file{::fdopen(fd, "wb")};
    const bool written = file &&
                         std::fwrite(content.data(), 1, content.size(), file.get()) == content.size() &&
                         std::fflush(file.get()) == 0 && ::fsync(fd) == 0;
    if (!written || std::rename(beside.c_str(), path.c_str()) != 0) {
        Error error = cannot("write", path);
        std::error_code ignored;
        std::filesystem::remove(beside, ignored);
        return tl::unexpected{std::move(error)};
    }
    return {};
}

}  // namespace

CommandResult run_export(Context& context, const Export& command) {
    const auto id = resolve_sweep(context.controller, command.id);
    if (!id) return tl::unexpected{id.error()};
    const auto curve = context.controller.download("/sweeps/" + path_segment(*id) + "/curve.csv",
                                                   kLargestCurve, ControllerClient::kQuick);
    if (!curve) return tl::unexpected{curve.error()};
    context.output.raw(*curve);
    context.output.note("Next: brink show " + *id);
    return kExitOk;
}

CommandResult run_backup(Context& context, const Backup& command) {
    const bool to_stdout = command.file == "-";
    std::error_code ignored;
    if (!to_stdout && !command.force && std::filesystem::exists(command.file, ignored)) {
        return tl::unexpected{
            Error{ErrorCode::invalid_input,
                  command.file + " exists; choose another name or add --force to replace it"}};
    }
    const auto copy = context.controller.download("/backup", kLargestBackup, kBackupDeadline);
    if (!copy) return tl::unexpected{copy.error()};
    // A proxy's page with status 200 must not replace a good backup.
    if (!copy->starts_with("SQLite format 3")) {
        return tl::unexpected{Error{
            ErrorCode::bad_reply,
            context.controller.address() + " did not answer with a database; is that a brink controller?"}};
    }
    if (to_stdout) {
        context.output.raw(*copy);
        return kExitOk;
    }
    if (auto written = write_whole(command.file, *copy); !written) return tl::unexpected{written.error()};
    context.output.note(fmt::format("Wrote {} ({} bytes). Next: sqlite3 {} 'select * from curve'",
                                    command.file, copy->size(), command.file));
    return kExitOk;
}

}  // namespace brink::cli

#include "daemon/chart/gnuplot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>
#include <utility>

#include "daemon/cli/format.hpp"

namespace brink::chart {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLargestPicture = 32UL * 1024 * 1024;
constexpr std::size_t kMostComplaint = 4'000;

tl::unexpected<Error> fault(ErrorCode code, std::string message) {
    return tl::unexpected{Error{code, std::move(message), {}}};
}

/// A file descriptor of ours.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_{fd} {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    Descriptor(Descriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        close();
        fd_ = std::exchange(other.fd_, -1);
        return *this;
    }
    void close() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }
    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool open() const { return fd_ >= 0; }

  private:
    int fd_ = -1;
};

struct Pipe {
    Descriptor read_end{};
    Descriptor write_end{};
};

std::optional<Pipe> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
    return Pipe{Descriptor{ends[0]}, Descriptor{ends[1]}};
}

/// Like a pipe, but writing to it when nobody reads any more raises no SIGPIPE.
std::optional<Pipe> make_socket_pair() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return std::nullopt;
    return Pipe{Descriptor{ends[0]}, Descriptor{ends[1]}};
}

/// A child with its three streams; killed and waited for when it is dropped.
class Child {
  public:
    Child() = default;
    ~Child() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// 0, or the errno of what failed.
    int start(const std::string& program) {
        auto in = make_socket_pair();
        auto out = make_pipe();
        auto err = make_pipe();
        if (!in || !out || !err) return errno;
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
        posix_spawn_file_actions_adddup2(&actions, in->read_end.get(), STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, out->write_end.get(), STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, err->write_end.get(), STDERR_FILENO);
        // This process blocks signals for a thread that waits for them; the child is to die of them as usual.
        sigset_t none;
        sigset_t usual;
        sigemptyset(&none);
        sigemptyset(&usual);
        sigaddset(&usual, SIGPIPE);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &usual);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        // Without its start-up files, which may redefine anything.
        std::string name = program;
        std::string bare = "--default-settings";
        std::array<char*, 3> arguments{name.data(), bare.data(), nullptr};
        const int failure =
            ::posix_spawnp(&pid_, name.c_str(), &actions, &attributes, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        if (failure != 0) {
            pid_ = -1;
            return failure;
        }
        input = std::move(in->write_end);
        output = std::move(out->read_end);
        complaints = std::move(err->read_end);
        return 0;
    }

    /// Its wait status; nothing when it is still there at the deadline.
    std::optional<int> wait_until(Clock::time_point deadline) {
        int status = 0;
        while (::waitpid(pid_, &status, WNOHANG) == 0) {
            if (Clock::now() >= deadline) return std::nullopt;
            ::poll(nullptr, 0, 2);
        }
        pid_ = -1;
        return status;
    }

    Descriptor input{};
    Descriptor output{};
    Descriptor complaints{};

  private:
    pid_t pid_ = -1;
};

/// Takes what is there; closes at the end of the stream.
void take(Descriptor& from, std::string& into) {
    std::array<char, 65'536> buffer{};
    const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
    if (got > 0) {
        into.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
        from.close();
    }
}

/// Feeds the script and gathers both streams at once, so that neither side waits for the other. False at the
/// deadline.
bool converse(Child& child, std::string_view script, std::string& picture, std::string& complaint,
              Clock::time_point deadline) {
    while (child.output.open() || child.complaints.open()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0 || picture.size() > kLargestPicture) return false;
        std::array<pollfd, 3> streams{{{child.input.get(), POLLOUT, 0},
                                       {child.output.get(), POLLIN, 0},
                                       {child.complaints.get(), POLLIN, 0}}};
        if (::poll(streams.data(), streams.size(), static_cast<int>(std::min<std::int64_t>(left, 60'000))) <
            0)
            continue;
        if (streams[0].revents != 0) {
            const ssize_t written =
                ::send(child.input.get(), script.data(), script.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (written > 0) script.remove_prefix(static_cast<std::size_t>(written));
            const bool gone = written < 0 && errno != EAGAIN && errno != EINTR;
            if (script.empty() || gone) child.input.close();
        }
        if (streams[1].revents != 0) take(child.output, picture);
        if (streams[2].revents != 0) {
            take(child.complaints, complaint);
            if (complaint.size() > kMostComplaint) complaint.resize(kMostComplaint);
        }
    }
    return true;
}

/// gnuplot's words on one line.
std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    text = cli::printable(text);
    text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
               text.end());
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string::npos) return {};
    return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

tl::expected<std::string, Error> Gnuplot::draw(const std::string& script,
                                               std::chrono::milliseconds deadline) const {
    const auto end = Clock::now() + deadline;
    Child child;
    if (const int failure = child.start(program_); failure == ENOENT) {
        return fault(ErrorCode::configuration,
                     fmt::format("{} is not installed, and it draws the charts: apt-get install gnuplot-nox",
                                 program_));
    } else if (failure != 0) {
        return fault(ErrorCode::internal,
                     fmt::format("cannot run {}: {}", program_, std::generic_category().message(failure)));
    }
    std::string picture;
    std::string complaint;
    const bool spoken = converse(child, script, picture, complaint, end);
    if (picture.size() > kLargestPicture) {
        return fault(ErrorCode::internal,
                     fmt::format("{} drew more than {} bytes", program_, kLargestPicture));
    }
    const auto status = spoken ? child.wait_until(end) : std::nullopt;
    if (!status) {
        return fault(ErrorCode::timed_out,
                     fmt::format("{} did not finish the chart within {:.0f} s and was ended", program_,
                                 std::chrono::duration<double>(deadline).count()));
    }
    if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0 || picture.empty()) {
        const std::string words = one_line(complaint);
        return fault(ErrorCode::internal, fmt::format("{} could not draw the chart: {}", program_,
                                                      words.empty() ? "it said nothing" : words));
    }
    return picture;
}

}  // namespace brink::chart

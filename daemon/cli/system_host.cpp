#include "daemon/cli/system_host.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <iterator>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "daemon/cli/exit_code.hpp"

namespace brink::cli {
namespace {

/// Remembers an interrupt. Shared with a thread that lives as long as the process, hence by shared_ptr.
class Interrupts {
  public:
    bool pause(std::chrono::milliseconds time) {
        std::unique_lock lock{mutex_};
        return !changed_.wait_for(lock, time, [this] { return raised_; });
    }
    bool raised() {
        const std::lock_guard lock{mutex_};
        return raised_;
    }
    void on_interrupt(std::function<void()> action) {
        const std::lock_guard lock{mutex_};
        action_ = std::move(action);
    }
    void raise() {
        // The action runs under the lock: once it has been taken back it is not running either.
        const std::lock_guard lock{mutex_};
        raised_ = true;
        changed_.notify_all();
        if (action_) action_();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool raised_ = false;
    std::function<void()> action_;
};

void watch_signals(const std::shared_ptr<Interrupts>& interrupts) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread{[signals, interrupts] {
        int signal = 0;
        sigwait(&signals, &signal);
        interrupts->raise();
        const timespec patience{.tv_sec = 2, .tv_nsec = 0};
        sigtimedwait(&signals, nullptr, &patience);
        _exit(kExitInterrupted);
    }}.detach();
}

/// Writes everything; the errno of what went wrong, or 0.
int write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

void write_out(std::string_view text) {
    const int failure = write_all(STDOUT_FILENO, text);
    if (failure == EPIPE) throw ClosedPipe{};
    if (failure != 0) {
        throw OutputFailed{Error{ErrorCode::invalid_input, "cannot write to standard output: " +
                                                               std::generic_category().message(failure)}};
    }
}

winsize terminal_size() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
        size.ws_col = 80;
        size.ws_row = 24;
    }
    return size;
}

std::optional<std::string> environment(const std::string& name) {
    // Nothing in this process changes the environment.
    const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
    if (value == nullptr) return std::nullopt;
    return value;
}

std::string local_time() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    std::array<char, 16> text{};
    const std::size_t length = std::strftime(text.data(), text.size(), "%H:%M:%S", &parts);
    return std::string{text.data(), length};
}

}  // namespace

Host system_host() {
    std::signal(SIGPIPE, SIG_IGN);
    auto interrupts = std::make_shared<Interrupts>();
    watch_signals(interrupts);

    Host host;
    host.env = environment;
    host.out = write_out;
    host.err = [](std::string_view text) { write_all(STDERR_FILENO, text); };
    host.read_input = [] {
        return std::string{std::istreambuf_iterator<char>{std::cin}, std::istreambuf_iterator<char>{}};
    };
    host.read_line = []() -> std::optional<std::string> {
        std::string line;
        if (!std::getline(std::cin, line)) return std::nullopt;
        return line;
    };
    const bool plain =
        !environment("NO_COLOR").value_or("").empty() || environment("TERM").value_or("dumb") == "dumb";
    host.out_is_terminal = !plain && isatty(STDOUT_FILENO) == 1;
    host.can_ask = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
    host.columns = [] { return std::max<int>(20, terminal_size().ws_col); };
    host.rows = [] { return std::max<int>(5, terminal_size().ws_row); };
    host.now = [] { return std::chrono::steady_clock::now(); };
    host.local_time = local_time;
    host.pause = [interrupts](std::chrono::milliseconds time) { return interrupts->pause(time); };
    host.interrupted = [interrupts] { return interrupts->raised(); };
    host.on_interrupt = [interrupts](std::function<void()> action) {
        interrupts->on_interrupt(std::move(action));
    };
    return host;
}

}  // namespace brink::cli

#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "search/error.hpp"

namespace brink::cli {

/// The reader of our standard output is gone (`brink list | head -1`): end quietly, with exit code 0.
struct ClosedPipe {};

/// Standard output, or a file, was to be written and could not be.
struct OutputFailed {
    Error error;
};

/// Everything the program touches besides the controller: its environment, streams, terminal, clock and
/// signals. Tests replace the members; `system_host()` has the real ones. Called from one thread.
struct Host {
    std::function<std::optional<std::string>(const std::string& name)> env;
    /// Writes all of it to standard output. Throws ClosedPipe when nobody reads it any more, OutputFailed
    /// when it fails otherwise.
    std::function<void(std::string_view)> out;
    /// Writes to standard error; what cannot be written is dropped.
    std::function<void(std::string_view)> err;
    /// All of standard input.
    std::function<std::string()> read_input;
    /// One line of an answer, without its end; nothing at the end of input.
    std::function<std::optional<std::string>()> read_line;
    /// Standard output is a terminal that can be repainted (not TERM=dumb, no NO_COLOR).
    bool out_is_terminal = false;
    /// Standard input and error are terminals: questions can be asked.
    bool can_ask = false;
    std::function<int()> columns;  ///< of the terminal, ≥ 20
    std::function<int()> rows;     ///< of the terminal, ≥ 5
    std::function<std::chrono::steady_clock::time_point()> now;
    std::function<std::string()> local_time;  ///< HH:MM:SS
    /// Waits; false as soon as the user has interrupted (also before the call).
    std::function<bool(std::chrono::milliseconds)> pause;
    /// Whether the user has interrupted.
    std::function<bool()> interrupted;
    /// What to call, on another thread, when the user interrupts; an empty function takes it back.
    std::function<void(std::function<void()>)> on_interrupt;
    /// The file that is read last; the user's is found through `env`.
    std::string system_config = "/etc/brink/config.toml";
};

}  // namespace brink::cli

#pragma once
#include <chrono>
#include <string>
#include <tl/expected.hpp>

#include "search/error.hpp"

namespace brink::chart {

/// Runs gnuplot as a child process: no start-up files, the script on its standard input, the picture from its
/// standard output, what it complains about in the error. Each call is a process of its own; thread-safe.
class Gnuplot {
  public:
    /// `program` is looked for in PATH unless it has a slash.
    explicit Gnuplot(std::string program = "gnuplot") : program_{std::move(program)} {}

    /// What the script drew. Blocks; at the deadline the child is killed. Errors: configuration (there is no
    /// gnuplot), timed_out, internal (gnuplot refused the script, or drew nothing or more than 32 MiB).
    [[nodiscard]] tl::expected<std::string, Error> draw(
        const std::string& script, std::chrono::milliseconds deadline = std::chrono::seconds{20}) const;

  private:
    std::string program_;
};

}  // namespace brink::chart

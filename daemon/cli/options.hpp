#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "daemon/cli/output.hpp"
#include "daemon/cli/settings.hpp"
#include "daemon/cli/spec_from_flags.hpp"

namespace brink::cli {

struct SweepStart {
    std::optional<std::string> file{};  ///< "-": standard input
    SpecFlags flags{};
    bool validate_only = false;
    bool watch = false;
    std::optional<std::string> confirm{};
};
struct SweepList {
    std::size_t limit = 50;
};
struct SweepShow {
    std::string id{};
    bool trials = false;
};
struct SweepCancel {
    std::string id{};
};
struct SweepDelete {
    std::string id{};
    bool yes = false;
};
struct Watch {
    std::optional<std::string> id{};
};
struct Export {
    std::string id{};
};
struct Plot {
    std::optional<std::string> id{};       ///< a sweep; none: the newest that has ended
    std::optional<std::string> csv{};      ///< a file of `brink export --csv` instead of a sweep
    std::optional<std::string> compare{};  ///< a second sweep, or a file
    bool terminal = false;
    std::optional<std::string> svg{};  ///< "-": standard output
    std::optional<std::string> png{};  ///< "-": standard output
    std::string headroom = "20%";
    std::string title{};
};
struct Agents {};
struct Check {
    std::string cluster{};
};
struct Backup {
    std::string file{};
    bool force = false;
};

/// Offline: what brink understands in scrapes.
struct Signals {
    std::vector<std::string> sources{};   ///< files, "-" for standard input, or http:// addresses
    std::vector<std::string> profiles{};  ///< files, beside those that ship
};
/// Offline: the verdict on a saved series of scrapes.
struct Judge {
    std::string folder{};
    std::optional<int> from{};  ///< seq; both ends belong to the range
    std::optional<int> to{};
    std::vector<std::string> profiles{};
    double io_idle_below = 0.20;
    double isr_churn_above = 0.50;
};

using Command = std::variant<SweepStart, SweepList, SweepShow, SweepCancel, SweepDelete, Watch, Export, Plot,
                             Agents, Check, Backup, Signals, Judge>;

/// What was asked for.
struct Invocation {
    SettingFlags settings{};
    Format format = Format::text;
    std::string output_file{};  ///< empty or "-": standard output
    bool no_input = false;
    Command command{};
};

/// Nothing to do but print and end: --help, --version, or a usage error.
struct Farewell {
    int exit_code = 0;
    std::string out{};
    std::string err{};
};

/// `arguments` without the program's name. Pure.
tl::expected<Invocation, Farewell> parse_options(const std::vector<std::string>& arguments);

}  // namespace brink::cli

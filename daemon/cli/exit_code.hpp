#pragma once
#include "search/error.hpp"

namespace brink::cli {

/// What `brink` exits with. These are a contract with scripts; docs/guide/command-line.md lists them.
inline constexpr int kExitOk = 0;
inline constexpr int kExitUsage =
    2;  ///< usage, a bad spec, an unknown id, a file that cannot be read or written
inline constexpr int kExitOverloaded = 3;    ///< `brink judge`: the series shows an overload
inline constexpr int kExitInconclusive = 4;  ///< a sweep or point failed; a cluster that cannot be judged
inline constexpr int kExitCancelled = 5;     ///< the sweep was cancelled
inline constexpr int kExitUnreachable = 69;  ///< the controller is not there or does not work
inline constexpr int kExitBusy = 75;         ///< the cluster is busy, or the sweep's state does not allow it
inline constexpr int kExitConfiguration = 78;  ///< brink's own configuration, or the token
inline constexpr int kExitInterrupted = 130;   ///< Ctrl-C

/// The exit code of a fault.
int exit_code_of(ErrorCode code);

}  // namespace brink::cli

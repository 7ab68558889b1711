#pragma once
#include <string>
#include <utility>
#include <vector>

namespace brink {

/// What class of fault an `Error` is; the edges (REST status, exit code) are decided from this alone.
enum class ErrorCode {
    invalid_input,  ///< the caller's input is wrong: REST 400, exit 2
    not_found,      ///< REST 404
    conflict,       ///< the state does not allow it, or another holder has it: REST 409, exit 75
    unauthorised,   ///< REST 401
    unavailable,    ///< a remote party cannot be reached, refused, or closed: REST 503, exit 69
    timed_out,      ///< a deadline passed: REST 504
    bad_reply,      ///< a remote party answered something that cannot be used
    configuration,  ///< a file of ours is wrong: exit 78
    storage,        ///< the database could not do it
    cancelled,      ///< an operator or shutdown asked to stop
    internal        ///< a fault of brink itself
};

/// One detail of an invalid input: an RFC 6901 JSON pointer and what is wrong there.
struct ErrorDetail {
    std::string pointer;
    std::string detail;
};

/// An expected failure: what failed, the value seen and what to change, in one sentence each.
/// A value type; functions return it in `tl::expected<T, Error>` and never log it as well.
struct Error {
    ErrorCode code = ErrorCode::internal;
    std::string message;
    std::vector<ErrorDetail> details{};

    /// The same error with a prefix that says what was being done, e.g. "scraping broker 2: …".
    [[nodiscard]] Error within(const std::string& doing) const {
        return Error{code, doing + ": " + message, details};
    }
};

}  // namespace brink

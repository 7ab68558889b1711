#include "daemon/cli/exit_code.hpp"

namespace brink::cli {

int exit_code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_input:
        case ErrorCode::not_found:
            return kExitUsage;
        case ErrorCode::conflict:
            return kExitBusy;
        case ErrorCode::unauthorised:
        case ErrorCode::configuration:
            return kExitConfiguration;
        case ErrorCode::cancelled:
            return kExitInterrupted;
        case ErrorCode::unavailable:
        case ErrorCode::timed_out:
        case ErrorCode::bad_reply:
        case ErrorCode::storage:
        case ErrorCode::internal:
            break;
    }
    return kExitUnreachable;
}

}  // namespace brink::cli

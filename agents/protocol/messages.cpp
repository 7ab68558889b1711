#include "agents/protocol/messages.hpp"

namespace brink::protocol {

const char* to_string(TaskState state) {
    switch (state) {
        case TaskState::prepared:
            return "prepared";
        case TaskState::starting:
            return "starting";
        case TaskState::running:
            return "running";
        case TaskState::stopped:
            return "stopped";
        case TaskState::failed:
            return "failed";
    }
    return "failed";
}

const char* to_string(PayloadKind kind) {
    return kind == PayloadKind::single_character ? "single_character" : "random";
}

std::optional<PayloadKind> payload_kind_from(const std::string& word) {
    for (const auto kind : {PayloadKind::random, PayloadKind::single_character})
        if (word == to_string(kind)) return kind;
    return std::nullopt;
}

}  // namespace brink::protocol

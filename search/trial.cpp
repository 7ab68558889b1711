#include "search/trial.hpp"

namespace brink {

const char* to_string(VerdictKind kind) {
    switch (kind) {
        case VerdictKind::sustained:
            return "sustained";
        case VerdictKind::overloaded:
            return "overloaded";
        case VerdictKind::generator_limited:
            return "generator_limited";
        case VerdictKind::invalid:
            return "invalid";
    }
    return "invalid";
}

std::optional<VerdictKind> verdict_kind_from(const std::string& word) {
    for (auto kind : {VerdictKind::sustained, VerdictKind::overloaded, VerdictKind::generator_limited,
                      VerdictKind::invalid}) {
        if (word == to_string(kind)) return kind;
    }
    return std::nullopt;
}

}  // namespace brink

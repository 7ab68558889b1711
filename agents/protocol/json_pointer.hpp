#pragma once
#include <string>
#include <string_view>

namespace brink::protocol {

/// RFC 6901: the pointer of a member, its name escaped (`~` → `~0`, `/` → `~1`).
inline std::string child_pointer(const std::string& parent, std::string_view name) {
    std::string out = parent + "/";
    for (const char c : name) {
        if (c == '~')
            out += "~0";
        else if (c == '/')
            out += "~1";
        else
            out += c;
    }
    return out;
}

}  // namespace brink::protocol

#include "daemon/cli/confirmation.hpp"

#include <string_view>

#include "config/agent_config.hpp"
#include "daemon/cli/fields.hpp"

namespace brink::cli {
namespace {

bool on_this_machine(std::string_view server) {
    // A listener's name may stand in front: PLAINTEXT://127.0.0.1:9092.
    if (const std::size_t scheme = server.find("://"); scheme != std::string_view::npos)
        server.remove_prefix(scheme + 3);
    return server.starts_with("localhost:") || server == "localhost" || is_loopback(std::string{server});
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

}  // namespace

std::optional<std::string> remote_servers(const nlohmann::json& clusters, const std::string& cluster) {
    for (const auto& entry : list(clusters, "clusters")) {
        if (text(entry, "name") != cluster) continue;
        const std::string servers = text(entry, "bootstrap_servers");
        // Where the servers cannot be seen they count as remote.
        if (servers.empty()) return "servers unknown";
        std::string remote;
        std::string_view rest = servers;
        while (!rest.empty()) {
            const std::size_t comma = rest.find(',');
            const std::string_view server = trimmed(rest.substr(0, comma));
            rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
            if (server.empty() || on_this_machine(server)) continue;
            if (!remote.empty()) remote += ", ";
            remote += server;
        }
        if (remote.empty()) return std::nullopt;
        return remote;
    }
    return std::nullopt;
}

}  // namespace brink::cli

#pragma once
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"

namespace brink {

/// What a brink-agent may do, from its own machine's point of view. TOML file, flags override.
struct AgentConfig {
    std::string listen = "127.0.0.1:8700";
    std::string agent_id{};  ///< default: hostname:port
    std::string token{};     ///< read from `token_file`; required off loopback
    std::string log_level = "info";
    int max_producers = 0;  ///< ceiling set by the operator; 0: what descriptors allow
    std::vector<std::string> allowed_bootstrap_servers{};  ///< empty: any
};

/// Reads TOML text. Unknown keys are errors that name the line and the nearest known key. `origin` names the
/// file. Errors: configuration.
tl::expected<AgentConfig, Error> parse_agent_config(const std::string& text, const std::string& origin);
/// The rules that span keys (a token off loopback). Errors: configuration.
tl::expected<void, Error> check_agent_config(const AgentConfig& config);
/// Reads a secret: first line of a file that only its owner may read. Errors: configuration (missing, open to
/// others, empty), naming the file and the chmod to run.
tl::expected<std::string, Error> read_secret_file(const std::string& path);
/// Whether "host:port" is a loopback address.
bool is_loopback(const std::string& address);

}  // namespace brink

#pragma once
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "daemon/cli/host.hpp"
#include "search/error.hpp"

namespace brink::cli {

/// Which controller to talk to, and as whom.
struct Settings {
    std::string controller = "http://127.0.0.1:8600";  ///< without a final slash
    std::string token{};                               ///< empty: none is sent
};

/// What the command line says of them; the strongest source.
struct SettingFlags {
    std::optional<std::string> controller{};
    std::optional<std::string> token_file{};
};

/// Flags, then BRINK_CONTROLLER and BRINK_TOKEN_FILE, then $XDG_CONFIG_HOME/brink/config.toml, then
/// `host.system_config`; key by key. Errors: invalid_input for a wrong flag, configuration for the rest (a
/// file that is not TOML or has an unknown key, an address that is none, a token that cannot be read).
tl::expected<Settings, Error> resolve_settings(const SettingFlags& flags, const Host& host);

/// Reads one config.toml's text. Errors: configuration, with `origin` and the line.
tl::expected<SettingFlags, Error> parse_settings(const std::string& text, const std::string& origin);

}  // namespace brink::cli

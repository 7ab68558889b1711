#include "daemon/cli/settings.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "config/agent_config.hpp"

namespace brink::cli {
namespace {

Error configuration(std::string message) { return Error{ErrorCode::configuration, std::move(message)}; }

/// A value and who said it, for messages.
struct Sourced {
    std::string value;
    std::string source;
    bool from_flag = false;
};

/// What one file says; nothing in it when there is no such file.
tl::expected<SettingFlags, Error> read_settings(const std::string& path) {
    std::error_code ignored;
    if (path.empty() || !std::filesystem::exists(path, ignored)) return SettingFlags{};
    std::ifstream file{path, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    if (!file)
        return tl::unexpected{configuration(fmt::format("{} cannot be read; check its permissions", path))};
    return parse_settings(text, path);
}

std::optional<std::string> set_variable(const Host& host, const char* name) {
    auto value = host.env(name);
    if (value && value->empty()) return std::nullopt;
    return value;
}

std::string user_config(const Host& host) {
    if (const auto folder = set_variable(host, "XDG_CONFIG_HOME")) return *folder + "/brink/config.toml";
    if (const auto home = set_variable(host, "HOME")) return *home + "/.config/brink/config.toml";
    return {};
}

std::optional<Sourced> strongest(const std::optional<std::string>& flag, const char* flag_name,
                                 const std::optional<std::string>& variable, const char* variable_name,
                                 const std::optional<std::string>& user, const std::string& user_file,
                                 const std::optional<std::string>& system, const std::string& system_file) {
    if (flag) return Sourced{*flag, flag_name, true};
    if (variable) return Sourced{*variable, variable_name};
    if (user) return Sourced{*user, user_file};
    if (system) return Sourced{*system, system_file};
    return std::nullopt;
}

tl::expected<std::string, Error> checked_address(const Sourced& address) {
    std::string url = address.value;
    while (!url.empty() && url.back() == '/') url.pop_back();
    const std::size_t scheme = url.find("://");
    const bool known = url.starts_with("http://") || url.starts_with("https://");
    if (!known || scheme + 3 >= url.size() || url.find_first_of(" \t\r\n?#") != std::string::npos) {
        return tl::unexpected{
            Error{address.from_flag ? ErrorCode::invalid_input : ErrorCode::configuration,
                  fmt::format("{}: \"{}\" is not a controller's address; write http://HOST:PORT",
                              address.source, address.value)}};
    }
    return url;
}

}  // namespace

tl::expected<SettingFlags, Error> parse_settings(const std::string& text, const std::string& origin) {
    SettingFlags settings;
    try {
        const toml::table table = toml::parse(text, origin);
        for (const auto& [key, value] : table) {
            const auto line = value.source().begin.line;
            const std::string name{key.str()};
            if (name != "controller" && name != "token_file") {
                return tl::unexpected{configuration(fmt::format(
                    "{}:{}: unknown key \"{}\"; known are controller and token_file", origin, line, name))};
            }
            const auto* written = value.as_string();
            if (written == nullptr) {
                return tl::unexpected{
                    configuration(fmt::format("{}:{}: {} must be a text in quotes", origin, line, name))};
            }
            (name == "controller" ? settings.controller : settings.token_file) = written->get();
        }
    } catch (const toml::parse_error& error) {
        return tl::unexpected{
            configuration(fmt::format("{}:{}: {}", origin, error.source().begin.line, error.description()))};
    }
    return settings;
}

tl::expected<Settings, Error> resolve_settings(const SettingFlags& flags, const Host& host) {
    const std::string user_file = user_config(host);
    const auto user = read_settings(user_file);
    if (!user) return tl::unexpected{user.error()};
    const auto system = read_settings(host.system_config);
    if (!system) return tl::unexpected{system.error()};

    Settings settings;
    if (const auto address = strongest(flags.controller, "--controller",
                                       set_variable(host, "BRINK_CONTROLLER"), "BRINK_CONTROLLER",
                                       user->controller, user_file, system->controller, host.system_config)) {
        auto url = checked_address(*address);
        if (!url) return tl::unexpected{url.error()};
        settings.controller = std::move(*url);
    }
    if (const auto file = strongest(flags.token_file, "--token-file", set_variable(host, "BRINK_TOKEN_FILE"),
                                    "BRINK_TOKEN_FILE", user->token_file, user_file, system->token_file,
                                    host.system_config)) {
        auto token = read_secret_file(file->value);
        if (!token) return tl::unexpected{token.error().within(file->source)};
        settings.token = std::move(*token);
    }
    return settings;
}

}  // namespace brink::cli

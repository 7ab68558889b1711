#include "config/agent_config.hpp"

#include "config/toml_table.hpp"

namespace brink {

tl::expected<AgentConfig, Error> parse_agent_config(const std::string& text, const std::string& origin) {
    const auto parsed = parse_toml(text, origin);
    if (!parsed) return tl::unexpected(parsed.error());
    AgentConfig config;
    TomlTable table(*parsed, origin, "");
    if (auto v = table.text("listen")) config.listen = *v;
    if (auto v = table.text("agent_id")) config.agent_id = *v;
    if (auto v = table.text("log_level")) config.log_level = *v;
    if (auto v = table.integer("max_producers", 1, 100'000)) config.max_producers = static_cast<int>(*v);
    if (auto v = table.texts("allowed_bootstrap_servers")) config.allowed_bootstrap_servers = *v;
    if (auto v = table.text("token_file")) {
        auto secret = read_secret_file(*v);
        if (!secret) return tl::unexpected(secret.error().within(origin));
        config.token = *secret;
    }
    if (auto ok = table.finish(); !ok) return tl::unexpected(ok.error());
    return config;
}

tl::expected<void, Error> check_agent_config(const AgentConfig& config) {
    if (!is_loopback(config.listen) && config.token.empty()) {
        return tl::unexpected(
            Error{ErrorCode::configuration,
                  "listen address " + config.listen +
                      " is not loopback, so a token is needed: set token_file (or --token-file)",
                  {}});
    }
    return {};
}

}  // namespace brink

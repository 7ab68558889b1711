#include "daemon/cli/spec_from_flags.hpp"

#include <fmt/format.h>

#include <cmath>

#include "daemon/cli/fields.hpp"
#include "daemon/cli/format.hpp"

namespace brink::cli {
namespace {

using nlohmann::json;
using Checked = tl::expected<json, Error>;

Error invalid(std::string message) { return Error{ErrorCode::invalid_input, std::move(message)}; }

/// Whole numbers as JSON integers: 5, not 5.0.
json as_number(double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
    return value;
}

Checked as_text(const std::string& text) { return json(text); }

Checked as_sizes(const std::string& text) {
    auto sizes = parse_sizes(text);
    if (!sizes) return tl::unexpected{sizes.error()};
    return json(*sizes);
}

Checked as_seconds(const std::string& text) {
    return parse_seconds(text).map([](double seconds) { return as_number(seconds); });
}

Checked as_share(const std::string& text) {
    const bool percent = text.ends_with('%');
    return parse_number(percent ? text.substr(0, text.size() - 1) : text).map([percent](double value) {
        return as_number(percent ? value / 100 : value);
    });
}

Checked as_count_from(double least, const std::string& text) {
    const auto value = parse_number(text);
    if (!value || *value != std::floor(*value) || *value < least || *value > 1e9) {
        return tl::unexpected{invalid(fmt::format("\"{}\" is not a count of at least {}", text, least))};
    }
    return as_number(*value);
}

Checked as_count(const std::string& text) { return as_count_from(1, text); }

Checked as_count_or_none(const std::string& text) { return as_count_from(0, text); }

Checked as_yes_or_no(const std::string& text) {
    if (text == "yes" || text == "no") return json(text == "yes");
    return tl::unexpected{invalid(fmt::format("\"{}\" is neither yes nor no", text))};
}

Checked as_count_or_auto(const std::string& text) { return text == "auto" ? as_text(text) : as_count(text); }

Checked as_rate(const std::string& text) {
    if (text == "auto") return json(text);
    std::string amount = text;
    if (amount.ends_with("/s")) amount.resize(amount.size() - 2);
    // A B in the unit makes it bytes a second; without one it is messages a second, k and M allowed.
    const bool bytes = amount.ends_with('B');
    if (const auto plain = parse_number(amount); plain && *plain > 0) {
        return json{{"messages_per_s", as_number(*plain)}};
    }
    const auto size = parse_size(amount);
    if (!size) {
        return tl::unexpected{invalid(
            fmt::format("\"{}\" is not a rate; write auto, 500 (messages/s) or 1MB (bytes/s)", text))};
    }
    return json{{bytes ? "bytes_per_s" : "messages_per_s", *size}};
}

using Path = std::vector<std::string>;

/// Makes the objects on the way. A member of another type there is the user's mistake.
tl::expected<void, Error> put(json& spec, const Path& path, json value) {
    json* place = &spec;
    std::string pointer;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        pointer += "/" + path[i];
        place = &(*place)[path[i]];
        if (place->is_null()) *place = json::object();
        if (!place->is_object()) {
            return tl::unexpected{
                Error{ErrorCode::invalid_input, "the spec is not usable", {{pointer, "must be an object"}}}};
        }
    }
    (*place)[path.back()] = std::move(value);
    return {};
}

tl::expected<void, Error> put_properties(json& spec, const char* flag,
                                         const std::vector<std::string>& properties, const Path& into) {
    for (const auto& property : properties) {
        const std::size_t equals = property.find('=');
        if (equals == std::string::npos || equals == 0) {
            return tl::unexpected{invalid(fmt::format("{}: \"{}\" is not KEY=VALUE", flag, property))};
        }
        Path path = into;
        path.push_back(property.substr(0, equals));
        if (auto done = put(spec, path, property.substr(equals + 1)); !done) return done;
    }
    return {};
}

struct Flag {
    const char* name;
    const std::optional<std::string>& value;
    Path path;
    Checked (*read)(const std::string&);
};

}  // namespace

tl::expected<json, Error> spec_from_flags(const std::optional<json>& file, const SpecFlags& flags) {
    json spec = file.value_or(json::object());
    if (!spec.is_object()) {
        return tl::unexpected{
            Error{ErrorCode::invalid_input, "the spec is not usable", {{"", "must be a JSON object"}}}};
    }
    const Flag table[] = {
        {"--cluster", flags.cluster, {"cluster"}, as_text},
        {"--name", flags.name, {"name"}, as_text},
        {"--sizes", flags.sizes, {"message_bytes"}, as_sizes},
        {"--max-producers", flags.max_producers, {"producers", "max"}, as_count_or_auto},
        {"--rate", flags.rate, {"producers", "rate_each"}, as_rate},
        {"--margin", flags.margin, {"margin"}, as_share},
        {"--strategy", flags.strategy, {"strategy"}, as_text},
        {"--warm-up", flags.warm_up, {"trial", "warm_up_s"}, as_seconds},
        {"--measure", flags.measure, {"trial", "measure_s"}, as_seconds},
        {"--sub-window", flags.sub_window, {"trial", "sub_window_s"}, as_seconds},
        {"--scrape-interval", flags.scrape_interval, {"trial", "scrape_interval_s"}, as_seconds},
        {"--max-extensions", flags.max_extensions, {"trial", "max_extensions"}, as_count_or_none},
        {"--early-end", flags.early_end, {"trial", "early_end"}, as_yes_or_no},
        {"--partitions-per-broker",
         flags.partitions_per_broker,
         {"topic", "partitions_per_broker"},
         as_count},
        {"--replication-factor", flags.replication_factor, {"topic", "replication_factor"}, as_count},
        {"--client-profile", flags.client_profile, {"client", "profile"}, as_text},
    };
    for (const Flag& flag : table) {
        if (!flag.value) continue;
        auto value = flag.read(*flag.value);
        if (!value) return tl::unexpected{value.error().within(flag.name)};
        if (auto done = put(spec, flag.path, std::move(*value)); !done) return tl::unexpected{done.error()};
    }
    if (auto done = put_properties(spec, "-X", flags.client_properties, {"client"}); !done) {
        return tl::unexpected{done.error()};
    }
    if (auto done = put_properties(spec, "--topic-config", flags.topic_config, {"topic", "config"}); !done) {
        return tl::unexpected{done.error()};
    }
    if (!spec.contains("cluster")) {
        return tl::unexpected{invalid("which cluster? Name it with --cluster NAME, or in the spec file")};
    }
    if (!spec.contains("message_bytes")) {
        return tl::unexpected{
            invalid("which message sizes? Name them with --sizes 100,1k,10k, or in the spec file")};
    }
    return spec;
}

}  // namespace brink::cli

#pragma once
#include <toml++/toml.h>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"

namespace brink {

/// Reads one TOML table strictly: every key has to be asked for, every value must have the asked type. The
/// first fault is kept (with file, line and key) and later reads answer nothing, so that callers check once,
/// at `finish`.
class TomlTable {
  public:
    TomlTable(const toml::table& table, std::string origin, std::string where)
        : table_(&table), origin_(std::move(origin)), where_(std::move(where)) {}

    std::optional<std::string> text(const std::string& key);
    /// A text that must be there and not be empty; empty after a fault.
    std::string required(const std::string& key);
    /// An integer within [low, high].
    std::optional<std::int64_t> integer(const std::string& key, std::int64_t low, std::int64_t high);
    /// A number, whole or not, within [low, high].
    std::optional<double> number(const std::string& key, double low, double high);
    std::optional<std::vector<std::string>> texts(const std::string& key);
    /// A table of scalars, each turned into text: `{ "linger.ms" = 5 }`.
    std::map<std::string, std::string> properties(const std::string& key);
    /// The table `[key]`, where there is one.
    std::optional<TomlTable> table(const std::string& key);
    /// Tables of an array of tables `[[key]]`.
    std::vector<TomlTable> tables(const std::string& key);

    /// Notes a fault at this key; the first one wins.
    void fault(const std::string& key, const std::string& what);
    /// The first fault, or the first key that nobody asked for. Children are finished by their own callers.
    tl::expected<void, Error> finish();

  private:
    const toml::node* take(const std::string& key);
    [[nodiscard]] std::string place(const std::string& key, const toml::node* node) const;

    const toml::table* table_;
    std::string origin_;
    std::string where_;
    std::vector<std::string> asked_;
    std::optional<Error> fault_;
};

/// Parses TOML text. Errors: configuration, with file and line.
tl::expected<toml::table, Error> parse_toml(const std::string& text, const std::string& origin);

}  // namespace brink

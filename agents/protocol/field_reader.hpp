#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"

namespace brink::protocol {

/// Reads one JSON object field by field, strictly, and gathers *every* fault with its pointer instead of
/// stopping at the first. A field that was never asked for is unknown, and `finish()` says so.
///
///     FieldReader fields(json, "");
///     spec.producers = fields.integer("producers", 1, 10'000);
///     return fields.finish(spec, "task");
///
/// Faulty or missing fields read as the given default (or zero), so that reading can go on. Not thread-safe.
class FieldReader {
  public:
    /// `json` must outlive the reader. `pointer` is where it stands in the document.
    FieldReader(const nlohmann::json& json, std::string pointer);

    /// Whole numbers only: 1.9, 1.0, true and "1" are refused, as is anything outside [low, high].
    std::int64_t integer(const char* name, std::int64_t low, std::int64_t high,
                         std::optional<std::int64_t> absent = {});
    std::uint64_t count(const char* name, std::optional<std::uint64_t> absent = {});
    /// Finite, in [low, high]; integers are numbers too.
    double number(const char* name, double low, double high, std::optional<double> absent = {});
    std::string text(const char* name, std::size_t longest, const std::optional<std::string>& absent = {});
    std::vector<std::string> texts(const char* name, std::size_t longest);
    /// The member itself, for nested values; nullptr when absent.
    const nlohmann::json* member(const char* name);
    /// As `member`, faulted when it is present with another type.
    const nlohmann::json* object(const char* name);
    const nlohmann::json* array(const char* name);

    void fault(const std::string& name, const std::string& detail);
    /// Takes over the faults of a nested value.
    void merge(const Error& error);
    [[nodiscard]] std::string pointer(const std::string& name) const;

    /// The faults so far and every unknown field as one invalid_input, or nothing. `what` names the value.
    std::optional<Error> finish(const char* what);
    template <typename Value>
    tl::expected<Value, Error> finish(Value value, const char* what) {
        if (auto error = finish(what)) return tl::unexpected(std::move(*error));
        return value;
    }

  private:
    const nlohmann::json* find(const char* name, bool required);
    void add(ErrorDetail fault);

    const nlohmann::json& json_;
    std::string pointer_;
    std::vector<std::string> known_;
    std::vector<ErrorDetail> faults_;
};

/// What a value is, in words for an error: "the number 1.9", "true", "a string".
std::string describe(const nlohmann::json& value);

}  // namespace brink::protocol

#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

/// The two ends of a point, as cells of a table. Pure.
namespace brink::cli {

/// Producers: the most that were sustained and the fewest that were too many. A missing end is not known
/// (yet).
struct Bracket {
    std::optional<std::int64_t> lower{};
    std::optional<std::int64_t> upper{};
};

/// From the point; where it has no end yet, from its finished search trials.
Bracket bracket_of(const nlohmann::json& point, const nlohmann::json& trials);
/// `  96 / 100 `, a missing end as `–`.
std::string producers_cell(const Bracket& bracket);
/// `1.92M [1.92–2.00]`: the measured rate at the lower end, then both ends of the bracket as offered. With
/// one end only: `1.92M [at least]`, `below 2.00M`.
std::string limit_cell(const nlohmann::json& point);
/// Why there is no more to have at a point: `broker 2 IO idle 17% (<20%)`, from the trial at its upper end.
std::string stopped_by(const nlohmann::json& point, const nlohmann::json& trials);

}  // namespace brink::cli

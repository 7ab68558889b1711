#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "daemon/cli/controller_client.hpp"

namespace brink::cli {

/// At most `limit` sweeps, newest first.
tl::expected<std::vector<nlohmann::json>, Error> fetch_sweeps(const ControllerClient& controller,
                                                              std::size_t limit);

/// The full id that a unique prefix (case ignored) stands for. Errors: not_found; invalid_input with the
/// candidates.
tl::expected<std::string, Error> resolve_sweep(const ControllerClient& controller, const std::string& prefix);

/// The id of the newest sweep that has not ended, else of the newest. Errors: not_found when there is none.
tl::expected<std::string, Error> newest_sweep(const ControllerClient& controller);

/// The id of the newest sweep that has ended. Errors: not_found when there is none.
tl::expected<std::string, Error> newest_ended_sweep(const ControllerClient& controller);

/// The same choices among sweeps already fetched. Pure.
tl::expected<std::string, Error> match_prefix(const std::vector<nlohmann::json>& sweeps,
                                              const std::string& prefix);
tl::expected<std::string, Error> choose_newest(const std::vector<nlohmann::json>& sweeps);
tl::expected<std::string, Error> choose_newest_ended(const std::vector<nlohmann::json>& sweeps);

/// Whether a sweep in this state will change no more.
bool has_ended(const std::string& state);

}  // namespace brink::cli

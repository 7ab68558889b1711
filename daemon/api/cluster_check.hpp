#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>

#include "daemon/sweep/sweep_service.hpp"
#include "search/error.hpp"

namespace brink::api {

/// Can this cluster be judged? Looks twice, two seconds apart, so that counters become rates. A cluster that
/// cannot be reached is not an error but the answer. Errors: not_found.
tl::expected<nlohmann::json, Error> check_cluster(SweepService& sweeps, Clock& clock,
                                                  const std::string& cluster);

}  // namespace brink::api

#pragma once
#include <string>
#include <tl/expected.hpp>

#include "config/controller_config.hpp"
#include "search/error.hpp"

namespace brink {

/// The controller: constructs everything, serves until SIGTERM or SIGINT, stops the load and returns. The
/// only place that constructs concretes. Errors: configuration (port in use), storage (database refused);
/// nothing is half-started.
tl::expected<void, Error> run_controller(const ControllerConfig& config);

}  // namespace brink

#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "agents/net/router.hpp"
#include "daemon/api/own_metrics.hpp"
#include "daemon/sweep/sweep_service.hpp"
#include "storage/sweep_store.hpp"

namespace brink::api {

/// What the API answers from. All outlive the router.
struct ApiContext {
    SweepService& sweeps;
    storage::SweepStore& store;
    OwnMetrics& metrics;
    Clock& clock;
    std::filesystem::path scratch;  ///< directory for backups on their way out
};

/// Every route of the controller, in one table; openapi.yaml describes the same ones, and a test compares
/// them.
net::Router make_router(const ApiContext& context);

/// Paths that need no token: the probes, and the live page, which holds no data and asks for the token
/// itself.
std::vector<std::string> open_paths();

}  // namespace brink::api

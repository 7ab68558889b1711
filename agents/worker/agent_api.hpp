#pragma once
#include "agents/net/router.hpp"
#include "agents/worker/task_table.hpp"

namespace brink::worker {

/// Adds the routes of an agent (`/v1/…`, `/healthz`, `/metrics`) to `router`. `table` must outlive it.
void add_agent_routes(net::Router& router, TaskTable& table);

}  // namespace brink::worker

#pragma once
#include <string>
#include <vector>

#include "agents/net/router.hpp"

namespace brink::api {

/// Routes of the live page: `/`, `/live.css`, `/live.js`, compiled in from daemon/web. A
/// Content-Security-Policy lets the page load and ask nothing but this daemon.
void add_page(net::Router& router);

/// The paths of those routes.
std::vector<std::string> page_paths();

}  // namespace brink::api

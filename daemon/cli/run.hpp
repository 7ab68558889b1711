#pragma once
#include <string>
#include <vector>

#include "daemon/cli/host.hpp"

namespace brink::cli {

/// The whole program but for its process: `arguments` without the program's name. Returns the exit code.
int run(const std::vector<std::string>& arguments, const Host& host);

}  // namespace brink::cli

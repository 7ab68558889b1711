#pragma once
#include "daemon/cli/host.hpp"

namespace brink::cli {

/// The real environment. SIGINT and SIGTERM are taken over by a thread of their own, so call it once, before
/// any other thread starts; SIGPIPE is ignored. A second interrupt, or one that nobody reacts to within two
/// seconds, ends the process with 130.
Host system_host();

}  // namespace brink::cli

#include <string>
#include <vector>

#include "daemon/cli/run.hpp"
#include "daemon/cli/system_host.hpp"

int main(int argc, char** argv) {
    const std::vector<std::string> arguments{argv + 1, argv + argc};
    return brink::cli::run(arguments, brink::cli::system_host());
}

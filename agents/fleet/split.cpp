#include "agents/fleet/split.hpp"

#include <cstddef>

namespace brink::fleet {

std::vector<int> split_producers(int producers, int agents) {
    std::vector<int> shares(static_cast<std::size_t>(agents), producers / agents);
    for (int i = 0; i < producers % agents; ++i) ++shares[static_cast<std::size_t>(i)];
    return shares;
}

}  // namespace brink::fleet

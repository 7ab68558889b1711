#include "search/boundary_search.hpp"

#include "search/bisection.hpp"
#include "search/guided.hpp"

namespace brink {

std::unique_ptr<BoundarySearch> make_search(const std::string& strategy, const SearchSettings& settings) {
    if (strategy == "bisection") return std::make_unique<Bisection>(settings);
    if (strategy == "guided") return std::make_unique<Guided>(settings);
    return nullptr;
}

const std::vector<std::string>& search_strategies() {
    static const std::vector<std::string> names{"bisection", "guided"};
    return names;
}

}  // namespace brink

#include "search/boundary_search.hpp"

#include "search/bisection.hpp"

namespace brink {

std::unique_ptr<BoundarySearch> make_search(const std::string& strategy, const SearchSettings& settings) {
    if (strategy == "bisection") return std::make_unique<Bisection>(settings);
    return nullptr;
}

const std::vector<std::string>& search_strategies() {
    static const std::vector<std::string> names{"bisection"};
    return names;
}

}  // namespace brink

#include "search/boundary_search.hpp"

#include "search/best_of_three.hpp"
#include "search/bisection.hpp"
#include "search/guided.hpp"

namespace brink {

std::unique_ptr<BoundarySearch> make_search(const std::string& strategy, const SearchSettings& settings) {
    if (strategy == "bisection") return std::make_unique<Bisection>(settings);
    if (strategy == "bisection_best_of_3") return std::make_unique<BestOfThree>(settings);
    if (strategy == "guided") return std::make_unique<Guided>(settings);
    return nullptr;
}

const std::vector<std::string>& search_strategies() {
    static const std::vector<std::string> names{"bisection", "bisection_best_of_3", "guided"};
    return names;
}

}  // namespace brink

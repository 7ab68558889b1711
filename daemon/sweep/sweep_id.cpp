#include "daemon/sweep/sweep_id.hpp"

#include <random>

namespace brink {

std::string new_sweep_id(std::int64_t unix_ms) {
    static constexpr char kDigits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    std::string id(26, '0');
    auto time = static_cast<std::uint64_t>(unix_ms);
    for (std::size_t i = 10; i-- > 0; time /= 32) id[i] = kDigits[time % 32];
    std::random_device random;
    for (std::size_t i = 10; i < id.size(); ++i) id[i] = kDigits[random() % 32];
    return id;
}

}  // namespace brink

#include "daemon/metrics/name_set.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace brink {

namespace {

constexpr std::string_view kTotal = "_total";
constexpr std::uint64_t kLowerAll = 0x2020202020202020U;
/// Odd, with bits all over: 2⁶⁴ divided by the golden ratio, and the first of the murmur finaliser.
constexpr std::uint64_t kSpreadLength = 0x9E3779B97F4A7C15U;
constexpr std::uint64_t kSpreadTail = 0xFF51AFD7ED558CCDU;
constexpr std::size_t kFewestSlots = 16;
constexpr std::size_t kSlotsPerName = 4;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Whether `name` is `wanted`, which is in lower case already and of the same length.
bool same(std::string_view name, std::string_view wanted) {
    // From the end, since the names of one exporter begin alike.
    for (std::size_t i = name.size(); i-- > 0;) {
        if (lower(name[i]) != wanted[i]) return false;
    }
    return true;
}

std::string_view without_total(std::string_view name) {
    if (name.size() < kTotal.size() || lower(name.back()) != kTotal.back()) return name;
    const auto kept = name.size() - kTotal.size();
    return same(name.substr(kept), kTotal) ? name.substr(0, kept) : name;
}

/// The length and the last eight bytes, with the bit set that tells lower from upper case. Names that differ
/// elsewhere only share a key; the comparison afterwards is exact.
std::uint64_t key_of(std::string_view name) {
    std::uint64_t tail = 0;
    const auto length = std::min(name.size(), sizeof tail);
    if (length != 0) std::memcpy(&tail, name.data() + name.size() - length, length);
    return ((tail | kLowerAll) ^ (name.size() * kSpreadLength)) * kSpreadTail;
}

}  // namespace

NameSet::NameSet(std::vector<std::string> names) : names_(std::move(names)) {
    const auto wanted = std::bit_ceil(std::max(kFewestSlots, names_.size() * kSlotsPerName));
    slots_.resize(wanted);
    shift_ = 64 - std::countr_zero(wanted);
    for (std::size_t i = 0; i < names_.size(); ++i) {
        auto& name = names_[i];
        std::transform(name.begin(), name.end(), name.begin(), &lower);
        name.resize(without_total(name).size());
        if (name.empty() || find_plain(name) >= 0) continue;
        const auto key = key_of(name);
        auto slot = static_cast<std::size_t>(key >> shift_);
        while (slots_[slot].index >= 0) slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot] = {key, static_cast<int>(i)};
    }
}

int NameSet::find(std::string_view name) const { return find_plain(without_total(name)); }

int NameSet::find_plain(std::string_view name) const {
    const auto key = key_of(name);
    const auto last = slots_.size() - 1;
    for (auto slot = static_cast<std::size_t>(key >> shift_); slots_[slot].index >= 0;
         slot = (slot + 1) & last) {
        if (slots_[slot].key != key) continue;
        const std::string_view wanted = names_[static_cast<std::size_t>(slots_[slot].index)];
        if (wanted.size() == name.size() && same(name, wanted)) return slots_[slot].index;
    }
    return -1;
}

}  // namespace brink

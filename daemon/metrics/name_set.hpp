#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace brink {

/// Names of metrics to pick out of a page, as exporters spell them: upper and lower case of ASCII letters are
/// the same, and so are a name and that name with a final `_total` (which 1.x exporters add and 0.x leave
/// out). Made once, asked for every family of every page: a name of no interest costs one look into a table,
/// no allocation. Immutable: any number of threads may ask at once.
class NameSet {
  public:
    /// In any spelling. A name that is there twice is found as the first; an empty one never.
    explicit NameSet(std::vector<std::string> names);

    /// Where `name` stands in the list that the set was made of; −1 when it does not.
    [[nodiscard]] int find(std::string_view name) const;
    [[nodiscard]] bool contains(std::string_view name) const { return find(name) >= 0; }

    /// The list, in lower case and without a final `_total`.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  private:
    struct Slot {
        std::uint64_t key = 0;
        int index = -1;  ///< −1: the slot is free
    };

    [[nodiscard]] int find_plain(std::string_view name) const;

    std::vector<std::string> names_;
    std::vector<Slot>
        slots_;      ///< a power of two of them, at most a quarter in use; probed one after the other
    int shift_ = 0;  ///< takes the upper bits of a key, which name a slot
};

}  // namespace brink

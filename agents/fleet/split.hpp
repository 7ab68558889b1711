#pragma once
#include <vector>

namespace brink::fleet {

/// Splits `producers` (≥ 0) over `agents` (≥ 1) exactly: shares differ by one at most, the larger ones first
/// (7 over 2 is 4 and 3). Pure.
std::vector<int> split_producers(int producers, int agents);

}  // namespace brink::fleet

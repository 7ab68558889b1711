#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace brink {

/// The known key closest to what somebody typed (edit distance ≤ 3 and less than half its length); empty if
/// none.
std::string nearest_key(std::string_view typed, const std::vector<std::string>& known);

/// "unknown key 'margn': did you mean 'margin'?", or the list of known keys where none is near.
std::string unknown_key_message(std::string_view typed, const std::vector<std::string>& known);

}  // namespace brink

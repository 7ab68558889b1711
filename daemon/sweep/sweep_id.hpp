#pragma once
#include <cstdint>
#include <string>

namespace brink {

/// A new id: 26 characters of Crockford's base 32 (48 bits of `unix_ms`, 80 random bits), so that ids sort by
/// time.
std::string new_sweep_id(std::int64_t unix_ms);

}  // namespace brink

#pragma once
#include <cstddef>
#include <map>
#include <string>

#include "config/sweep_spec.hpp"

namespace brink {

/// Topic configuration of a sweep: retention and segments bounded so that all replicas together stay within
/// about 8 GB of disk, and what the spec sets on top. Pure.
std::map<std::string, std::string> topic_settings(const SweepSpec& spec, std::size_t brokers);

}  // namespace brink

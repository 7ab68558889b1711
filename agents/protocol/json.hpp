#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "agents/protocol/messages.hpp"

namespace brink::protocol {

/// Parses text from outside: depth ≤ 32, no duplicate keys, no trailing bytes, numbers finite.
/// Errors: invalid_input with the offset (syntax) or the pointer (depth, duplicate).
tl::expected<nlohmann::json, Error> parse_json(std::string_view text);

/// Values ↔ JSON. The `read_…` functions check types and ranges strictly (an integer given as 1.9, true or
/// 3e9 is refused), name unknown fields, and answer invalid_input with pointers.
nlohmann::json to_json(const TaskSpec& spec);
nlohmann::json to_json(const StartOrder& order);
nlohmann::json to_json(const LeaseOrder& order);
nlohmann::json to_json(const TaskReport& report);
nlohmann::json to_json(const HostFacts& facts);
tl::expected<TaskSpec, Error> read_task_spec(const nlohmann::json& json);
tl::expected<StartOrder, Error> read_start_order(const nlohmann::json& json);
tl::expected<LeaseOrder, Error> read_lease_order(const nlohmann::json& json);
tl::expected<TaskReport, Error> read_task_report(const nlohmann::json& json);
tl::expected<HostFacts, Error> read_host_facts(const nlohmann::json& json);

}  // namespace brink::protocol

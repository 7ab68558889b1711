#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"

namespace brink::cli {

/// What the flags of `brink sweep start` say about the sweep, as written.
struct SpecFlags {
    std::optional<std::string> cluster{};
    std::optional<std::string> name{};
    std::optional<std::string> sizes{};
    std::optional<std::string> max_producers{};  ///< auto, or a count
    std::optional<std::string> rate{};           ///< auto, messages/s, or bytes/s with a unit
    std::optional<std::string> margin{};
    std::optional<std::string> strategy{};
    std::optional<std::string> warm_up{};
    std::optional<std::string> measure{};
    std::optional<std::string> sub_window{};
    std::optional<std::string> scrape_interval{};
    std::optional<std::string> max_extensions{};
    std::optional<std::string> early_end{};  ///< yes or no
    std::optional<std::string> partitions_per_broker{};
    std::optional<std::string> replication_factor{};
    std::optional<std::string> client_profile{};
    std::vector<std::string> client_properties{};  ///< key=value
    std::vector<std::string> topic_config{};       ///< key=value
};

/// The spec to send: the file's document with what the flags say in its place. Only what this program must
/// know is checked here; the controller checks the rest and answers with pointers. Errors: invalid_input
/// naming the flag.
tl::expected<nlohmann::json, Error> spec_from_flags(const std::optional<nlohmann::json>& file,
                                                    const SpecFlags& flags);

}  // namespace brink::cli

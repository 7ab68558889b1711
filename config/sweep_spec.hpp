#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"
#include "search/units.hpp"

namespace brink {

/// How fast one producer sends.
struct RateEach {
    enum class Kind { automatic, messages_per_s, bytes_per_s, per_size };
    Kind kind = Kind::automatic;
    double value = 0;                           ///< for messages_per_s and bytes_per_s; > 0
    std::map<std::int64_t, double> per_size{};  ///< messages/s by message bytes

    /// The rate for a size; nothing for `automatic`, which is found by measuring.
    [[nodiscard]] std::optional<MessagesPerSecond> for_size(MessageSize size) const;
    bool operator==(const RateEach&) const = default;
};

/// What a sweep measures, every default filled in. Values are within the ranges of
/// config/schema/sweep_spec.schema.json.
struct SweepSpec {
    std::string cluster;
    std::string name{};
    std::vector<std::int64_t> message_bytes;
    std::optional<int> producers_max{};  ///< nothing: auto
    RateEach rate_each{};
    double margin = 0.05;
    std::string strategy = "bisection";
    double warm_up_s = 60;
    double measure_s = 120;
    double sub_window_s = 5;
    double scrape_interval_s = 5;
    bool early_end = true;   ///< a window ends once the brokers' signals leave no doubt
    int max_extensions = 2;  ///< how often one that leaves doubt goes on for six scrapes more
    double io_idle_below = 0.20;
    double isr_churn_above = 0.50;
    bool mean_across_brokers = false;
    bool quota = true;        ///< being throttled by a broker's quota is an overload
    bool replication = true;  ///< a partition out of its ISR for longer than a follower may lag is one
    bool delivery = true;     ///< a shortfall that a broker answers for is one
    int partitions_per_broker = 10;
    std::optional<int> replication_factor{};  ///< nothing: min(3, brokers)
    std::map<std::string, std::string> topic_config{};
    std::string payload = "random";
    std::string client_profile = "kafka-defaults";
    std::map<std::string, std::string> client{};  ///< on top of the profile

    bool operator==(const SweepSpec&) const = default;
};

/// Reads and checks a spec. Errors: invalid_input with a JSON pointer for each fault; unknown keys name the
/// nearest.
tl::expected<SweepSpec, Error> read_sweep_spec(const nlohmann::json& json);
/// With every default written out; reading it back gives an equal spec.
nlohmann::json to_json(const SweepSpec& spec);

/// librdkafka properties of a profile (`kafka-defaults`, `published`, `librdkafka`).
/// kafka-defaults: what a Java producer of Kafka 4 does when nothing is set.
std::map<std::string, std::string> client_profile(const std::string& name);

}  // namespace brink

#include "config/sweep_spec.hpp"

namespace brink {

std::map<std::string, std::string> client_profile(const std::string& name) {
    if (name == "kafka-defaults") {
        return {{"acks", "all"},
                {"enable.idempotence", "true"},
                {"max.in.flight.requests.per.connection", "5"},
                {"linger.ms", "5"},
                {"batch.size", "16384"},
                {"compression.codec", "none"}};
    }
    if (name == "published") {
        return {{"acks", "1"}, {"linger.ms", "25"}, {"batch.size", "524288"}, {"compression.codec", "lz4"}};
    }
    return {};
}

}  // namespace brink

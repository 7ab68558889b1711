#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace brink::sim {

/// Something that reached a broker of librdkafka's mock cluster, as its debug log (`debug=mock`) tells it.
struct MockEvent {
    enum class Kind { produce_request, append };
    Kind kind = Kind::produce_request;
    int broker = 0;
    std::int64_t messages = 0;  ///< of an append
    std::int64_t bytes = 0;     ///< of an append: the record batch as it came, compressed where it was
};

/// Reads one line of that log; nothing for the lines that tell of something else. Written for librdkafka 2.0;
/// `MockCluster::start` proves that the library at hand still writes them. Pure.
std::optional<MockEvent> read_mock_log(std::string_view line);

}  // namespace brink::sim

#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "agents/protocol/messages.hpp"

namespace brink::worker {

/// The bytes that messages are made of, built once per task and shared by its producers without copying: a
/// message is a slice at the next offset. Random bytes do not compress, and slices of one batch do not
/// overlap, so compression finds nothing in them. Immutable after construction, hence usable by any number of
/// threads. It must outlive every client that was handed a slice.
class PayloadPool {
  public:
    PayloadPool(protocol::PayloadKind kind, std::size_t message_bytes);

    /// Where one producer stands in the pool.
    struct Cursor {
        std::size_t offset = 0;
    };
    /// A start for producer `index`, apart from the others'.
    [[nodiscard]] Cursor cursor(std::uint64_t index) const;
    /// The next message of a producer: `message_bytes` long.
    std::span<char> next(Cursor& cursor) const;
    [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }

  private:
    std::size_t message_bytes_;
    std::size_t span_;    ///< offsets are in [0, span)
    std::size_t stride_;  ///< from one message to the next
    /// Mutable because librdkafka takes `void*`; it only reads what it does not own.
    mutable std::string bytes_;
};

}  // namespace brink::worker

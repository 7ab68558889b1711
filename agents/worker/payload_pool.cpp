#include "agents/worker/payload_pool.hpp"

#include <algorithm>
#include <cstring>
#include <random>

namespace brink::worker {
namespace {

constexpr std::size_t kPoolBytes = 16UL * 1024 * 1024;  // well beyond one batch and the processor's caches
constexpr std::size_t kLargestExtra = 64UL * 1024 * 1024;
constexpr std::uint64_t kSeed = 0x6272696e6bULL;  // the same bytes in every run: runs must be comparable
// For messages nearly as large as the pool: a step that shares no factor with its size.
constexpr std::size_t kSmallStride = 4'099;

std::size_t pool_size(protocol::PayloadKind kind, std::size_t message_bytes) {
    if (kind == protocol::PayloadKind::single_character) return message_bytes;
    return std::max(kPoolBytes, message_bytes + std::min(3 * message_bytes, kLargestExtra));
}

}  // namespace

PayloadPool::PayloadPool(protocol::PayloadKind kind, std::size_t message_bytes)
    : message_bytes_(message_bytes), bytes_(pool_size(kind, message_bytes), 'x') {
    span_ = bytes_.size() - message_bytes_ + 1;
    stride_ = message_bytes_ < span_ ? message_bytes_ : std::min(kSmallStride, span_ - 1);
    if (kind == protocol::PayloadKind::single_character) return;
    std::mt19937_64 generator(kSeed);
    std::size_t at = 0;
    while (at < bytes_.size()) {
        const std::uint64_t word = generator();
        const auto length = std::min(sizeof(word), bytes_.size() - at);
        std::memcpy(bytes_.data() + at, &word, length);
        at += length;
    }
}

PayloadPool::Cursor PayloadPool::cursor(std::uint64_t index) const {
    // Multiplying by an odd constant scatters neighbours over the pool.
    return Cursor{static_cast<std::size_t>((index * 0x9E3779B97F4A7C15ULL) % span_)};
}

std::span<char> PayloadPool::next(Cursor& cursor) const {
    const std::span<char> slice(bytes_.data() + cursor.offset, message_bytes_);
    cursor.offset += stride_;
    if (cursor.offset >= span_) cursor.offset -= span_;
    return slice;
}

}  // namespace brink::worker

#pragma once
#include <compare>
#include <cstdint>

namespace brink {

/// A number with a meaning. Two quantities of different kinds neither compare nor convert.
template <class Kind, class Number>
struct Quantity {
    Number value{};
    auto operator<=>(const Quantity&) const = default;
};

/// Bytes in one message's payload, key and headers excluded; ≥ 1.
using MessageSize = Quantity<struct MessageSizeKind, std::int64_t>;
/// How many producers send at once; ≥ 0. The searched variable.
using ProducerCount = Quantity<struct ProducerCountKind, int>;
/// Messages per second, ≥ 0.
using MessagesPerSecond = Quantity<struct MessagesPerSecondKind, double>;
/// Payload bytes per second, ≥ 0 (10^6 of them are one MB/s).
using BytesPerSecond = Quantity<struct BytesPerSecondKind, double>;
/// A fraction of something, normally within [0, 1].
using Share = Quantity<struct ShareKind, double>;

inline MessagesPerSecond operator*(ProducerCount n, MessagesPerSecond each) {
    return {static_cast<double>(n.value) * each.value};
}
inline BytesPerSecond operator*(MessagesPerSecond rate, MessageSize size) {
    return {rate.value * static_cast<double>(size.value)};
}

}  // namespace brink

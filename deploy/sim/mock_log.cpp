#include "deploy/sim/mock_log.hpp"

#include <charconv>

namespace brink::sim {
namespace {

/// Takes what stands before `end` off the front of `text`; false when `end` is not in it.
bool skip_past(std::string_view& text, std::string_view end) {
    const auto at = text.find(end);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + end.size());
    return true;
}

template <class Number>
bool take_number(std::string_view& text, Number& value) {
    const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    return true;
}

bool take(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
}

}  // namespace

std::optional<MockEvent> read_mock_log(std::string_view line) {
    MockEvent event;
    if (!skip_past(line, "Broker ") || !take_number(line, event.broker) || !take(line, ": "))
        return std::nullopt;
    if (take(line, "Received ProduceRequestV")) return event;
    // "Log append TOPIC [PARTITION] N messages, B bytes at offset …"; a topic's name has no brackets.
    event.kind = MockEvent::Kind::append;
    if (take(line, "Log append ") && skip_past(line, "] ") && take_number(line, event.messages) &&
        take(line, " messages, ") && take_number(line, event.bytes) && take(line, " bytes at offset "))
        return event;
    return std::nullopt;
}

}  // namespace brink::sim

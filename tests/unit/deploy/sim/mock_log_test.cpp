#include "deploy/sim/mock_log.hpp"

#include <doctest/doctest.h>

using namespace brink::sim;

TEST_CASE("read_mock_log: an append tells broker, messages and bytes") {
    const auto event = read_mock_log(
        "[thrd:mock]: Broker 2: Log append brink-01 [17] 12 messages, 1432 bytes at offset 40 (log now "
        "0..52, "
        "original start 0)");
    REQUIRE(event);
    CHECK(event->kind == MockEvent::Kind::append);
    CHECK(event->broker == 2);
    CHECK(event->messages == 12);
    CHECK(event->bytes == 1432);
}

TEST_CASE("read_mock_log: a produce request is one, whatever its version") {
    const auto event =
        read_mock_log("[thrd:mock]: Broker 31: Received ProduceRequestV7 from 127.0.0.1:40000");
    REQUIRE(event);
    CHECK(event->kind == MockEvent::Kind::produce_request);
    CHECK(event->broker == 31);
}

TEST_CASE("read_mock_log: other lines, and lines that stop short, tell nothing") {
    for (const char* line :
         {"", "Broker", "Broker x: Received ProduceRequestV7", "Broker 1: Received MetadataRequestV4 from 1",
          "Broker 1: Sending ProduceResponseV7 to 127.0.0.1:1",
          "Broker 1: Log append t [0] failed: PID mismatch", "Broker 1: Log append t [0] 3 messages",
          "Broker 1: Log append t", "New connection"}) {
        CAPTURE(line);
        CHECK_FALSE(read_mock_log(line));
    }
}

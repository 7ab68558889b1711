#include "deploy/sim/capacity_model.hpp"

#include <doctest/doctest.h>

using namespace brink::sim;

namespace {

CapacityModel model_of(double request, double message, double byte) {
    CapacityModel model;
    model.io_threads = 4;
    model.us_per_request = request;
    model.us_per_message = message;
    model.us_per_byte = byte;
    return model;
}

}  // namespace

TEST_CASE("true_messages_per_s: threads × 0.8 over what a message costs, on every broker") {
    // One microsecond a message: 4 threads do 4 M/s, 80 % of that is 3.2 M/s a broker.
    CHECK(true_messages_per_s(model_of(0, 1, 0), {100, 1}, 1) == doctest::Approx(3.2e6));
    CHECK(true_messages_per_s(model_of(0, 1, 0), {100, 1}, 3) == doctest::Approx(9.6e6));
    CHECK(true_messages_per_s(model_of(0, 1, 0), {100, 1}, 1, 0.5) == doctest::Approx(2e6));
}

TEST_CASE("true_messages_per_s: bytes and requests count, a slow broker holds all of them back") {
    const TrafficShape ten_in_a_request{.bytes_per_message = 200, .requests_per_message = 0.1};
    CHECK(true_messages_per_s(model_of(50, 3, 0.01), ten_in_a_request, 2) ==
          doctest::Approx(2 * 4 * 0.8 / 10e-6));
    CHECK(true_messages_per_s(model_of(50, 3, 0.01), ten_in_a_request, 2, 0.2, 4) ==
          doctest::Approx(2 * 4 * 0.8 / 40e-6));
}

TEST_CASE("thread_seconds: is linear in each kind of work") {
    CHECK(thread_seconds(model_of(20, 70, 0.5), 3, 10, 1'000) == doctest::Approx(60e-6 + 700e-6 + 500e-6));
}

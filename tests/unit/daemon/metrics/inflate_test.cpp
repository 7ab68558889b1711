#include "daemon/metrics/inflate.hpp"

#include <doctest/doctest.h>

#include "tests/unit/daemon/metrics/gzip.hpp"

using namespace brink;

namespace {

constexpr std::size_t kPlenty = 1 << 20;

std::string refused(std::string_view body, std::size_t max_bytes = kPlenty) {
    const auto text = inflate_gzip(body, max_bytes);
    REQUIRE_FALSE(text.has_value());
    CHECK(text.error().code == ErrorCode::bad_reply);
    return text.error().message;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Hard to compress, the same every time.
std::string noise(std::size_t bytes) {
    std::string text(bytes, ' ');
    unsigned state = 7;
    for (auto& c : text) c = static_cast<char>((state = state * 1'664'525U + 1'013'904'223U) >> 24U);
    return text;
}

}  // namespace

TEST_CASE("inflate_gzip: gives back what was compressed, of any size and in several members") {
    for (const std::size_t bytes : {0UL, 1UL, 65'535UL, 65'536UL, 65'537UL, 700'000UL}) {
        CAPTURE(bytes);
        for (const auto& text : {std::string(bytes, '#'), noise(bytes)}) {
            CHECK(inflate_gzip(test::gzip(text), kPlenty) == text);
            CHECK(inflate_gzip(test::gzip(text) + test::gzip("b 2\n"), kPlenty) == text + "b 2\n");
        }
    }
}

TEST_CASE("inflate_gzip: stops at the limit, to the byte") {
    for (const std::size_t bytes : {10UL, 65'536UL, 300'000UL}) {
        const auto packed = test::gzip(std::string(bytes, 'a'));
        CHECK(inflate_gzip(packed, bytes).has_value());
        CHECK(has(refused(packed, bytes - 1),
                  "limit of " + std::to_string(bytes - 1) + " bytes once inflated"));
    }
    const auto bomb = test::gzip(std::string(50'000'000, '\0'));
    CHECK(has(refused(bomb, 1000), "limit of 1000 bytes"));
    CHECK(has(refused(test::gzip("0123456789") + test::gzip("0123456789"), 19), "limit of 19 bytes"));
}

TEST_CASE("inflate_gzip: what is cut short, damaged or no gzip is refused") {
    const auto text = noise(5'000);
    const auto packed = test::gzip(text);
    for (std::size_t kept = 0; kept < packed.size(); ++kept) {
        CHECK(has(refused(std::string_view{packed}.substr(0, kept)), "cut short"));
    }
    auto damaged = packed;
    damaged[packed.size() - 6] ^= 1;  // of the checksum
    CHECK(has(refused(damaged), "damaged"));
    CHECK(has(refused("a 1\n"), "no gzip"));
    CHECK(has(refused(packed + "a 1\n"), "no gzip"));
}

// libFuzzer: whatever comes as gzip is inflated without crashing and never to more than allowed; what was
// compressed comes back, and with one byte less allowed, or one byte missing, it is refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "daemon/metrics/inflate.hpp"
#include "tests/unit/daemon/metrics/gzip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kLimit = std::size_t{1} << 20U;
    const std::string body(reinterpret_cast<const char*>(data), size);
    for (const auto limit : {kLimit, size}) {
        const auto text = brink::inflate_gzip(body, limit);
        if (text && text->size() > limit) std::abort();
    }

    const auto packed = brink::test::gzip(body);
    const auto twice = brink::inflate_gzip(packed + packed, 2 * size);
    if (!twice || *twice != body + body) std::abort();
    if (size > 0 && brink::inflate_gzip(packed, size - 1)) std::abort();
    if (brink::inflate_gzip(std::string_view{packed}.substr(0, packed.size() - 1), kLimit)) std::abort();
    return 0;
}

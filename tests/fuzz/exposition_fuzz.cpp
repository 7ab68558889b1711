// libFuzzer: whatever a metrics endpoint sends, the parser reads it without crashing and never counts more
// than it saw.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/metrics/exposition.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    std::size_t seen = 0;
    const auto stats = brink::parse_exposition(
        text, [](std::string_view name) { return !name.empty(); },
        [&](const brink::ExpositionSample& sample) { seen += sample.name.empty() ? 0 : 1; });
    if (seen > stats.samples || stats.samples + stats.bad_lines > lines) std::abort();
    return 0;
}

// libFuzzer: whatever a metrics endpoint sends, the parser reads it without crashing, never counts more than
// it saw, and says the same however the page is cut into pieces and whatever limits it has.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/metrics/exposition.hpp"

namespace {

struct Said {
    std::string samples;
    std::size_t selected = 0;
    bool refused = false;
    brink::ExpositionStats stats{};
};

bool same(const Said& a, const Said& b) {
    if (a.refused || b.refused) return a.refused == b.refused;
    return a.samples == b.samples && a.stats.samples == b.stats.samples &&
           a.stats.bad_lines == b.stats.bad_lines;
}

/// Sizes that depend on the page alone, so that a finding can be repeated. Mostly short pieces.
class Sizes {
  public:
    explicit Sizes(std::string_view page) {
        for (const char c : page) next(static_cast<unsigned char>(c));
    }
    std::size_t operator()() {
        const auto bits = next(1);
        return 1 + (bits % 4 == 0 ? bits / 4 % 300 : bits / 4 % 9);
    }
    std::uint32_t next(std::uint32_t mixed_in) {
        state_ = (state_ ^ mixed_in) * 0x01000193U + 0x9E3779B9U;
        return state_ >> 8U;
    }

  private:
    std::uint32_t state_ = 0x811C9DC5U;
};

template <class Wanted>
Said parse(std::string_view page, const Wanted& wanted, const brink::ExpositionLimits& limits, bool split) {
    Said said;
    const auto sink = [&](const brink::ExpositionSample& sample) {
        ++said.selected;
        if (sample.name.empty()) std::abort();
        said.samples.append(sample.name).append("|").append(sample.type);
        for (const auto& [key, value] : sample.labels)
            said.samples.append("|").append(key).append("|").append(value);
        said.samples.append(std::to_string(sample.value)).append("\n");
    };
    brink::ExpositionParser parser{wanted, sink, limits};
    Sizes sizes{page};
    while (!page.empty()) {
        // In memory of its own, so that a look beyond a piece, or back at an earlier one, is found out.
        const auto part = page.substr(0, split ? sizes() : page.size());
        const std::vector<char> piece(part.begin(), part.end());
        page.remove_prefix(part.size());
        parser.feed({piece.data(), piece.size()});
    }
    const auto stats = parser.finish();
    said.refused = !stats;
    if (stats) said.stats = *stats;
    return said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view page(reinterpret_cast<const char*>(data), size);
    const auto lines = static_cast<std::size_t>(std::count(page.begin(), page.end(), '\n')) + 1;
    const auto all = [](std::string_view) { return true; };

    const auto whole = parse(page, all, {}, false);
    if (whole.refused || whole.selected != whole.stats.samples) std::abort();
    if (whole.stats.samples + whole.stats.bad_lines > lines) std::abort();
    if (!same(whole, parse(page, all, {}, true))) std::abort();

    Sizes sizes{page};
    const brink::ExpositionLimits tight{.max_body_bytes = size == 0 ? 1 : size - sizes.next(2) % 2,
                                        .max_line_bytes = 1 + sizes.next(3) % 100,
                                        .max_samples = 1 + sizes.next(4) % 20};
    const auto limited = parse(page, all, tight, false);
    if (limited.selected > tight.max_samples) std::abort();
    if (!same(limited, parse(page, all, tight, true))) std::abort();

    static const brink::NameSet names{{"a", "kafka_server_replicamanager_isrshrinks",
                                       "kafka_server_kafkarequesthandlerpool_count", "jmx_scrape_error"}};
    const auto selected = parse(page, names, {}, false);
    if (selected.selected > whole.selected) std::abort();
    if (!same(selected, parse(page, names, {}, true))) std::abort();
    return 0;
}

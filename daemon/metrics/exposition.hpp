#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "daemon/metrics/function_ref.hpp"
#include "daemon/metrics/name_set.hpp"
#include "daemon/metrics/sample_reader.hpp"
#include "search/error.hpp"

namespace brink {

/// One sample line. The views point into the page or into the parser's scratch space and live as long as the
/// callback.
struct ExpositionSample {
    std::string_view name;
    /// Unescaped label values in order of appearance.
    const std::vector<std::pair<std::string_view, std::string_view>>& labels;
    double value;
    std::string_view type;  ///< counter, gauge, untyped …; empty when the scrape does not say
    int name_index = 0;     ///< where the name stands in the NameSet that selected it
};

struct ExpositionStats {
    std::size_t samples = 0;    ///< selected or not
    std::size_t bad_lines = 0;  ///< lines that are neither sample nor comment, or too long: skipped
};

/// What a page may take up; each is at least 1. Time is bounded by the deadline of the HTTP call.
struct ExpositionLimits {
    /// Of all that is fed, after inflation. A page of a broker with thousands of partitions can be tens of
    /// megabytes.
    std::size_t max_body_bytes = std::size_t{64} * 1024 * 1024;
    /// Without its end; a longer line is a bad line, and is not kept.
    std::size_t max_line_bytes = std::size_t{64} * 1024;
    /// Samples selected: those that somebody keeps. Five signals of 100,000 topics.
    std::size_t max_samples = 500'000;
};

/// Reads Prometheus text 0.0.4 and OpenMetrics 1.0 as it arrives, in pieces of any size, and hands on the
/// samples whose names are asked for. Tolerant: a bad line is counted and skipped; nothing counts after
/// `# EOF`. Names of no interest cost one look, their labels and values are not read (nor checked). Whole
/// lines are read where they stand; what is kept besides is a line that is not complete yet, the latest
/// `# TYPE` line and the labels of one sample: a few times `max_line_bytes`. Pure; not thread-safe.
class ExpositionParser {
  public:
    using Selector = FunctionRef<bool(std::string_view)>;
    using Sink = FunctionRef<void(const ExpositionSample&)>;

    /// `names` and `sink` are referred to and must outlive the parser.
    ExpositionParser(const NameSet& names, Sink sink, ExpositionLimits limits = {})
        : names_(&names), sink_(sink), limits_(limits) {}
    /// Selects by a function of the name, which is asked once for lines in a row that have the same.
    ExpositionParser(Selector wanted, Sink sink, ExpositionLimits limits = {})
        : wanted_(wanted), sink_(sink), limits_(limits) {}
    ExpositionParser(const ExpositionParser&) = delete;
    ExpositionParser& operator=(const ExpositionParser&) = delete;

    /// The next piece of the page. False when it is of no use to feed more: a limit was exceeded.
    bool feed(std::string_view chunk);
    /// After the last piece: reads a last line without an end. Errors: bad_reply, naming the limit that was
    /// exceeded, what was seen and what to change; what the sink was given then is a part of the page.
    tl::expected<ExpositionStats, Error> finish();

  private:
    enum class Exceeded : std::uint8_t { nothing, body, samples };
    static constexpr auto kNothing = [](std::string_view) { return false; };

    void read_line(std::string_view line);
    [[nodiscard]] bool begins_with_last_name(std::string_view line) const;
    bool read_name(std::string_view& line);
    void read_comment(std::string_view line);
    void exceed(Exceeded limit);
    [[nodiscard]] std::string_view type_of_last_name();
    void carry(std::string_view part);
    void read_carried_line();
    void keep_views();

    const NameSet* names_ = nullptr;
    Selector wanted_{kNothing};
    Sink sink_;
    ExpositionLimits limits_;

    ExpositionStats stats_{};
    std::size_t selected_ = 0;
    std::size_t body_bytes_ = 0;
    Exceeded exceeded_ = Exceeded::nothing;
    bool stopped_ = false;  ///< after `# EOF`, or once a limit was exceeded

    /// Lines of one family stand together: the name of the line before, and what was decided about it.
    /// Within one feed() only.
    std::string_view last_name_{};
    int last_index_ = -1;  ///< −1: not selected
    std::string_view last_type_{};
    bool type_known_ = false;

    std::string_view type_line_{};  ///< what follows TYPE in the latest such comment; not looked into yet
    bool type_in_page_ = false;     ///< type_line_ points into what was fed, and not into type_store_
    std::string type_store_;

    std::string carry_;  ///< the beginning of a line whose end was not fed yet
    bool carrying_ = false;
    bool overlong_ = false;  ///< that line is longer than the limit; carry_ is empty

    SampleReader reader_;
};

/// The same over a page that is there as a whole, without limits. `wanted` empty: every sample. Never fails.
ExpositionStats parse_exposition(std::string_view text, const std::function<bool(std::string_view)>& wanted,
                                 const std::function<void(const ExpositionSample&)>& sink);

}  // namespace brink

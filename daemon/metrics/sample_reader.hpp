#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace brink {

/// Reads what follows the name of a sample line: `{labels} value [timestamp] [# exemplar]`, in Prometheus
/// text 0.0.4 and in OpenMetrics 1.0. Keeps its storage from line to line, and holds no more of it than a
/// few times the longest line. Private to ExpositionParser.
class SampleReader {
  public:
    /// False when `rest` is no such thing. What `labels` returns then points into `rest` or into this
    /// object, until the next call.
    bool read(std::string_view rest);

    [[nodiscard]] const std::vector<std::pair<std::string_view, std::string_view>>& labels() const {
        return labels_;
    }
    [[nodiscard]] double value() const { return value_; }

  private:
    bool read_labels(std::string_view& rest);
    std::optional<std::string_view> read_quoted(std::string_view& rest);
    std::optional<std::string_view> read_escaped(std::string_view& rest);

    std::vector<std::pair<std::string_view, std::string_view>> labels_;
    std::string unescaped_;
    double value_ = 0;
};

}  // namespace brink

#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/metrics/exposition.hpp"
#include "daemon/metrics/signal_reader.hpp"

namespace brink {

/// A metric's name in lower case without a final `_total`: exporters differ in both.
std::string plain_name(std::string_view name);
/// Whether a number can be what the kind says, given what its TYPE line says.
bool believable(SeriesKind kind, double value);

/// The series of one page that the rows of the profiles name. Not thread-safe; lives as long as one page is
/// read.
class PageFindings {
  public:
    explicit PageFindings(std::span<const SignalReader::Row> rows) : rows_(rows), found_(rows.size()) {}

    /// A sample whose name these rows have.
    void add(const ExpositionSample& sample, const std::vector<std::size_t>& rows);

    [[nodiscard]] bool has(std::size_t row) const { return !found_[row].empty(); }
    /// How much of a profile is there: the fit of several profiles is compared by it.
    [[nodiscard]] std::size_t score(std::size_t profile) const;

    struct Answer {
        double value = 0;
        std::string series;
        std::size_t row = 0;
        bool contradictory = false;  ///< series that must agree do not
    };
    /// What the first of these rows that has a series says.
    [[nodiscard]] std::optional<Answer> answer(std::span<const std::size_t> rows) const;
    /// All values of a row, in the order of their series.
    [[nodiscard]] std::vector<double> values(std::size_t row) const;
    /// A series under an idle counter's name whose value cannot be one; empty when there is none.
    [[nodiscard]] const std::string& not_nanoseconds() const { return not_nanoseconds_; }

  private:
    struct Found {
        std::string series;
        double value = 0;
        bool of_topic = false;
    };
    [[nodiscard]] Answer join(std::size_t row, std::vector<Found> series) const;

    std::span<const SignalReader::Row> rows_;
    std::vector<std::vector<Found>> found_;
    std::string not_nanoseconds_;
};

}  // namespace brink

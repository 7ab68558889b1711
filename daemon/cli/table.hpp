#pragma once
#include <string>
#include <vector>

namespace brink::cli {

/// Rows of text under a heading, in columns that are as wide as their widest cell. Widths count UTF-8
/// characters. The last column of a row is never padded; a row may have fewer cells than the heading.
class Table {
  public:
    struct Column {
        std::string title;
        bool right = false;  ///< align to the right, for numbers
    };

    explicit Table(std::vector<Column> columns) : columns_{std::move(columns)} {}
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    [[nodiscard]] bool empty() const { return rows_.empty(); }
    /// The heading, then a line a row.
    [[nodiscard]] std::vector<std::string> lines() const;

  private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace brink::cli

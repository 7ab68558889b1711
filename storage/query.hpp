#pragma once
#include <SQLiteCpp/Statement.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace brink::storage {

/// A prepared statement borrowed for one use: values are bound in order, and it is reset when this goes, so
/// that no read stays open. Not thread-safe. Throws SQLite::Exception.
class Query {
  public:
    explicit Query(SQLite::Statement& statement) : statement_(statement) {}
    ~Query() { statement_.tryReset(); }
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    Query& bind(const std::string& value) {
        statement_.bind(++bound_, value);
        return *this;
    }
    Query& bind(std::int64_t value) {
        statement_.bind(++bound_, value);
        return *this;
    }
    Query& bind(int value) {
        statement_.bind(++bound_, value);
        return *this;
    }
    Query& bind(bool value) { return bind(value ? 1 : 0); }
    /// What is not a finite number is no reading: it is stored as none, and refused where one must be.
    Query& bind(double value) {
        if (!std::isfinite(value)) return bind_nothing();
        statement_.bind(++bound_, value);
        return *this;
    }
    template <class T>
    Query& bind(const std::optional<T>& value) {
        return value ? bind(*value) : bind_nothing();
    }
    Query& bind_nothing() {
        statement_.bind(++bound_);
        return *this;
    }

    /// Moves to the next row; false when there is none.
    bool step() { return statement_.executeStep(); }
    /// Runs a statement without rows; returns how many rows it changed.
    int run() { return statement_.exec(); }

    void read(int index, std::string& value) const { value = statement_.getColumn(index).getString(); }
    void read(int index, std::int64_t& value) const { value = statement_.getColumn(index).getInt64(); }
    void read(int index, int& value) const { value = statement_.getColumn(index).getInt(); }
    void read(int index, bool& value) const { value = statement_.getColumn(index).getInt() != 0; }
    void read(int index, double& value) const { value = statement_.getColumn(index).getDouble(); }
    template <class T>
    void read(int index, std::optional<T>& value) const {
        if (statement_.isColumnNull(index)) return value.reset();
        read(index, value.emplace());
    }
    /// The cell itself, for readers that go by its type.
    [[nodiscard]] SQLite::Column cell(int index) const { return statement_.getColumn(index); }
    [[nodiscard]] int columns() const { return statement_.getColumnCount(); }
    [[nodiscard]] std::string column_name(int index) const { return statement_.getColumnName(index); }

  private:
    SQLite::Statement& statement_;
    int bound_ = 0;
};

}  // namespace brink::storage

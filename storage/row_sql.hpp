#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "storage/query.hpp"
#include "storage/tables.hpp"

/// Statements over whole rows, made from `Table<Row>`.
namespace brink::storage {

template <class Row, class Visit>
void visit_all(Row& row, Visit&& column) {
    using Columns = Table<std::remove_const_t<Row>>;
    Columns::key(row, column);
    Columns::fixed(row, column);
    Columns::changing(row, column);
}

/// "a, b, c" in the order of `visit_all`.
template <class Row>
std::string column_list() {
    std::string list;
    const Row row{};
    visit_all(row,
              [&](const char* name, const auto&) { list += (list.empty() ? "" : ", ") + std::string(name); });
    return list;
}

/// The place of the n-th value. A document that is not JSON becomes NULL there, which its column refuses.
inline std::string place(std::string_view column, int n) {
    std::string value = "?" + std::to_string(n);
    if (!column.ends_with("_json")) return value;
    return "iif(" + value + " = '' OR json_valid(" + value + "), " + value + ", NULL)";
}

template <class Row>
std::string insert_sql() {
    std::string places;
    int n = 0;
    const Row row{};
    visit_all(row, [&](const char* name, const auto&) {
        places += (places.empty() ? "" : ", ") + place(name, ++n);
    });
    return std::string("INSERT INTO ") + Table<Row>::kName + " (" + column_list<Row>() + ") VALUES (" +
           places + ")";
}

/// An insert that replaces a row of the same key where `condition` holds for the stored one.
template <class Row>
std::string upsert_sql(const std::string& condition) {
    std::string keys;
    std::string sets;
    const Row row{};
    Table<Row>::key(
        row, [&](const char* name, const auto&) { keys += (keys.empty() ? "" : ", ") + std::string(name); });
    Table<Row>::changing(row, [&](const char* name, const auto&) {
        sets += (sets.empty() ? "" : ", ") + std::string(name) + " = excluded." + name;
    });
    return insert_sql<Row>() + " ON CONFLICT (" + keys + ") DO UPDATE SET " + sets + " WHERE " +
           Table<Row>::kName + "." + condition;
}

/// Sets the `changing` columns of the row with that key. Bound by `bind_update`.
template <class Row>
std::string update_sql() {
    std::string sets;
    std::string keys;
    int n = 0;
    const Row row{};
    Table<Row>::changing(row, [&](const char* name, const auto&) {
        sets += (sets.empty() ? "" : ", ") + std::string(name) + " = " + place(name, ++n);
    });
    Table<Row>::key(row, [&](const char* name, const auto&) {
        keys += (keys.empty() ? "" : " AND ") + std::string(name) + " = " + place(name, ++n);
    });
    return std::string("UPDATE ") + Table<Row>::kName + " SET " + sets + " WHERE " + keys;
}

/// Selects whole rows; `rest` is what follows the table's name.
template <class Row>
std::string select_sql(const std::string& rest) {
    return "SELECT " + column_list<Row>() + " FROM " + Table<Row>::kName + " " + rest;
}

template <class Row>
void bind_all(Query& query, const Row& row) {
    visit_all(row, [&](const char*, const auto& value) { query.bind(value); });
}

template <class Row>
void bind_update(Query& query, const Row& row) {
    const auto bind = [&](const char*, const auto& value) { query.bind(value); };
    Table<Row>::changing(row, bind);
    Table<Row>::key(row, bind);
}

/// The row that the query stands on.
template <class Row>
Row read_row(Query& query) {
    Row row{};
    int index = 0;
    visit_all(row, [&](const char*, auto& value) { query.read(index++, value); });
    return row;
}

template <class Row>
std::vector<Row> read_rows(Query& query) {
    std::vector<Row> rows;
    while (query.step()) rows.push_back(read_row<Row>(query));
    return rows;
}

}  // namespace brink::storage

#include "storage/curve_export.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "store_fixture.hpp"

namespace brink::storage {
namespace {

constexpr const char* kHeader =
    "sweep_id,cluster,message_bytes,lower_producers,upper_producers,lower_msgs_per_s,upper_msgs_per_s,"
    "measured_msgs_per_s,measured_mb_per_s,wire_mb_per_s,broker_in_mb_per_s,mb_per_s_per_broker,p50_ms,p99_"
    "ms,"
    "worst_idle,isr_churn,limited_by,evidence,flags,trials,started_at,finished_at\r\n";

/// Reads RFC 4180, as written by someone who has only read the RFC.
std::vector<std::vector<std::string>> parse(const std::string& text) {
    std::vector<std::vector<std::string>> rows(1, {""});
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (quoted && text.compare(i, 2, "\"\"") == 0) {
            rows.back().back() += '"';
            ++i;
        } else if (text[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && text[i] == ',') {
            rows.back().emplace_back();
        } else if (!quoted && text.compare(i, 2, "\r\n") == 0) {
            rows.push_back({""});
            ++i;
        } else {
            rows.back().back() += text[i];
        }
    }
    CHECK(rows.back() == std::vector<std::string>{""});  // the last line ends like the others
    rows.pop_back();
    return rows;
}

TEST_CASE("csv_text: quotes what the RFC asks for and what a spreadsheet would run") {
    CHECK(csv_text("").empty());
    CHECK(csv_text("plain text") == "plain text");
    CHECK(csv_text("a,b") == "\"a,b\"");
    CHECK(csv_text("say \"hi\"") == "\"say \"\"hi\"\"\"");
    CHECK(csv_text("two\nlines") == "\"two\nlines\"");
    CHECK(csv_text("=1+1") == "\"'=1+1\"");
    CHECK(csv_text("+1") == "\"'+1\"");
    CHECK(csv_text("-1") == "\"'-1\"");
    CHECK(csv_text("@SUM(A1)") == "\"'@SUM(A1)\"");
    CHECK(csv_text("\tx") == "\"'\tx\"");
    CHECK(csv_text("\rx") == "\"'\rx\"");
    CHECK(csv_text("a=b") == "a=b");
}

TEST_CASE("csv_number: the fewest digits that read back the same") {
    CHECK(csv_number(0.1) == "0.1");
    CHECK(csv_number(1'000'000) == "1000000");
    CHECK(csv_number(0.1 + 0.2) == "0.30000000000000004");
    CHECK(csv_number(-0.5) == "-0.5");
    CHECK(csv_number(0) == "0");
    CHECK(csv_number(1e300) == "1e+300");
    std::mt19937_64 random(7);  // NOLINT: the same numbers each time
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t bits = random();
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        if (!std::isfinite(value)) continue;
        const std::string text = csv_number(value);
        if (std::strtod(text.c_str(), nullptr) != value) FAIL(text);
    }
}

TEST_CASE("curve_csv: one header line where nothing has ended") {
    const TemporaryDirectory place;
    make_database(place.file());
    const auto store = opened(place.file());
    CHECK(store->curve_csv("s1").value() == kHeader);
    CHECK(store->curve_csv("none").value() == kHeader);
}

TEST_CASE("curve_csv: file, view and points are the same to the last digit, in the order of the points") {
    const TemporaryDirectory place;
    const auto store = opened(place.file());
    SweepRow sweep = a_sweep("s1");
    sweep.cluster = "=cmd|' /C calc'!A0";
    const std::vector<std::int64_t> sizes = {100'000, 100, 10'000, 1000, 5};
    std::vector<PointRow> points;
    points.reserve(sizes.size());
    for (const std::int64_t size : sizes)
        points.push_back(a_point("s1", static_cast<int>(points.size()), size));
    REQUIRE(store->create_sweep(sweep, points));
    REQUIRE(store->create_sweep(a_sweep("s0"), {a_point("s0", 0)}));
    std::mt19937_64 random(11);  // NOLINT: the same numbers each time
    std::uniform_real_distribution<double> figure(0, 1e6);
    for (PointRow& point : points) {
        point.state = "done";
        point.lower_producers = 40;
        point.upper_producers = 42;
        point.lower_msgs_per_s = figure(random);
        point.upper_msgs_per_s = figure(random);
        point.measured_msgs_per_s = figure(random);
        point.measured_mb_per_s = figure(random);
        point.worst_idle = figure(random) / 1e6;
        point.limited_by = "io_idle";
        point.evidence = "says \"yes\", twice\nor more";
        point.trials = 8;
        point.started_at_ms = 1'700'000'000'007;
        point.finished_at_ms = 1'700'000'600'999;
    }
    points[2].state = "failed";  // with leftovers of its search
    points[2].flags = "irregular";
    points[3].upper_producers.reset();
    points[3].upper_msgs_per_s.reset();
    points[3].flags = "at_least";
    points[4].state = "running";
    for (const PointRow& point : points) REQUIRE(store->update_point(point));

    const std::string csv = store->curve_csv("s1").value();
    CHECK(csv.starts_with(kHeader));
    const auto rows = parse(csv);
    REQUIRE(rows.size() == 5);
    REQUIRE(rows[1].size() == 22);
    const auto number = [](const std::string& text) { return std::strtod(text.c_str(), nullptr); };
    for (std::size_t i = 0; i < 4; ++i) {
        const auto& row = rows[i + 1];
        CHECK(row[0] == "s1");
        CHECK(row[1] == "'=cmd|' /C calc'!A0");
        CHECK(row[2] == std::to_string(sizes[i]));
        CHECK(number(row[7]) == points[i].measured_msgs_per_s);
        CHECK(number(row[8]) == points[i].measured_mb_per_s);
        CHECK(row[9].empty());
        CHECK(number(row[14]) == points[i].worst_idle);
        CHECK(row[17] == points[i].evidence);
        CHECK(row[19] == "8");
        CHECK(row[20] == "2023-11-14T22:13:20.007Z");
        CHECK(row[21] == "2023-11-14T22:23:20.999Z");
    }
    CHECK(rows[1][3] == "40");
    CHECK(number(rows[1][5]) == points[0].lower_msgs_per_s);
    CHECK(number(rows[1][6]) == points[0].upper_msgs_per_s);
    for (const int end : {3, 4, 5, 6}) CHECK(rows[3][static_cast<std::size_t>(end)].empty());
    CHECK(rows[3][18] == "irregular failed");
    CHECK(rows[4][3] == "40");
    CHECK(rows[4][4].empty());
    CHECK(rows[4][18] == "at_least");

    // The view, as a user queries it in a backup.
    REQUIRE(store->backup(place.file("copy.db")));
    SQLite::Database copy(place.file("copy.db").string(), SQLite::OPEN_READONLY);
    SQLite::Statement view(copy, "SELECT * FROM curve WHERE sweep_id = 's1'");
    for (std::size_t i = 0; i < 4; ++i) {
        REQUIRE(view.executeStep());
        CHECK(view.getColumnCount() == 22);
        CHECK(view.getColumn("message_bytes").getInt64() == sizes[i]);
        CHECK(view.getColumn("measured_msgs_per_s").getDouble() == points[i].measured_msgs_per_s.value());
        CHECK(view.getColumn("worst_idle").getDouble() == points[i].worst_idle.value());
        CHECK(view.getColumn("finished_at").getString() == "2023-11-14T22:23:20.999Z");
    }
    CHECK_FALSE(view.executeStep());
}

}  // namespace
}  // namespace brink::storage

#include "daemon/cli/format.hpp"

#include <doctest/doctest.h>

using namespace brink::cli;

TEST_CASE("parse_size: decimal and binary units, always whole bytes") {
    CHECK(parse_size("100") == 100);
    CHECK(parse_size("100B") == 100);
    CHECK(parse_size("1k") == 1000);
    CHECK(parse_size("10kB") == 10'000);
    CHECK(parse_size("1.5k") == 1500);
    CHECK(parse_size("1MB") == 1'000'000);
    CHECK(parse_size("1KiB") == 1024);
    CHECK(parse_size("1MiB") == 1'048'576);
    for (const char* bad :
         {"", "0", "-1", "k", "1x", "1.5", "1.0001k", "nan", "inf", "1e400", "1kk", "0x10"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_size(bad).has_value());
    }
}

TEST_CASE("parse_sizes: a comma with nothing beside it is refused") {
    CHECK(parse_sizes("100,1k,10k") == std::vector<std::int64_t>{100, 1000, 10'000});
    CHECK_FALSE(parse_sizes("100,,1k").has_value());
    CHECK_FALSE(parse_sizes("100,").has_value());
    CHECK_FALSE(parse_sizes("").has_value());
}

TEST_CASE("parse_seconds: units, and never less than nothing") {
    CHECK(parse_seconds("5s") == 5.0);
    CHECK(parse_seconds("500ms") == 0.5);
    CHECK(parse_seconds("2m") == 120.0);
    CHECK(parse_seconds("1h") == 3600.0);
    CHECK(parse_seconds("15") == 15.0);
    CHECK(parse_seconds("0s") == 0.0);
    for (const char* bad : {"-5s", "5 parsecs", "", "s"}) CHECK_FALSE(parse_seconds(bad).has_value());
}

TEST_CASE("format_size: exact, in the unit that reads well") {
    CHECK(format_size(100) == "100 B");
    CHECK(format_size(1000) == "1 kB");
    CHECK(format_size(1500) == "1.5 kB");
    CHECK(format_size(10'000) == "10 kB");
    CHECK(format_size(1024) == "1 KiB");
    CHECK(format_size(1'048'576) == "1 MiB");
    CHECK(format_size(1'000'000) == "1 MB");
    CHECK(format_size(1234) == "1234 B");
    CHECK(format_size(1'000'001) == "1000001 B");
}

TEST_CASE("format_size: parse_size reads back what it wrote") {
    for (const std::int64_t bytes :
         {1, 99, 100, 999, 1000, 1001, 1024, 1500, 4096, 10'240, 65'536, 1'048'576, 1'500'000}) {
        CHECK(parse_size(format_size(bytes)) == bytes);
    }
}

TEST_CASE("format_count: three digits, and the unit is chosen after rounding") {
    CHECK(format_count(0) == "0");
    CHECK(format_count(5.76) == "5.76");
    CHECK(format_count(48) == "48");
    CHECK(format_count(12.5) == "12.5");
    CHECK(format_count(12'345) == "12.3k");
    CHECK(format_count(1'920'000) == "1.92M");
    CHECK(format_count(4800) == "4.80k");
    CHECK(format_count(999.7) == "1.00k");
    CHECK(format_count(999'700) == "1.00M");
    CHECK(format_count(0.05) == "0.05");
}

TEST_CASE("format_range: both ends in the unit of the figure before them") {
    CHECK(format_range(1'920'000, 2'000'000, 1'920'000) == "1.92–2.00");
    CHECK(format_range(996'000, 1'040'000, 996'000) == "996–1040");
}

TEST_CASE("format_share: never rounds a breach onto its threshold") {
    CHECK(format_share(0.17) == "17%");
    CHECK(format_share(0.196) == "19.6%");
    CHECK(format_share(0) == "0%");
    CHECK(format_share(1) == "100%");
}

TEST_CASE("format_clock and format_estimate") {
    CHECK(format_clock(862) == "14:22");
    CHECK(format_clock(5) == "0:05");
    CHECK(format_clock(3723) == "1:02:03");
    CHECK(format_clock(-1) == "0:00");
    CHECK(format_estimate(0.75) == "45 s");
    CHECK(format_estimate(40) == "40 min");
    CHECK(format_estimate(210) == "3.5 h");
}

TEST_CASE("printable: no text can command the terminal") {
    CHECK(printable("a\x1b[2Jb\r\n") == "a?[2Jb??");
    CHECK(printable("\xC2\x9B"
                    "31m – ×") == "?31m – ×");
}

TEST_CASE("display_width and cut_to_width: characters, not bytes") {
    CHECK(display_width("– ×") == 3);
    CHECK(cut_to_width("–×abc", 3) == "–×a");
    CHECK(cut_to_width("ab", 5) == "ab");
}

#include "daemon/chart/curve_rows.hpp"

#include <doctest/doctest.h>

using namespace brink;
using namespace brink::chart;

namespace {

const std::string kHeader =
    "sweep_id,cluster,message_bytes,lower_msgs_per_s,upper_msgs_per_s,measured_msgs_per_s,flags,started_"
    "at\r\n";

std::string fault(const std::string& text) {
    const auto curve = read_curve_csv(text);
    return curve ? "" : curve.error().message;
}

}  // namespace

TEST_CASE("read_curve_csv: rows by size, missing ends empty, failed ones marked") {
    const auto curve = read_curve_csv(kHeader +
                                      "01J,\"a, \"\"b\"\"\",1000,400,440,399.5,,2026-11-30T10:00:00.000Z\r\n"
                                      "01J,c,100,1920,,1918,at_least short_window,\r\n"
                                      "01J,c,10000,,,,failed,\r\n"
                                      "01J,c,20000,,50,,,\r\n");
    REQUIRE(curve);
    CHECK(curve->sweep == "01J");
    CHECK(curve->cluster == "a, \"b\"");
    CHECK(curve->day == "2026-11-30");
    REQUIRE(curve->rows.size() == 4);
    CHECK(curve->rows[0].message_bytes == 100);
    CHECK(curve->rows[0].boundary() == 1918);
    CHECK_FALSE(curve->rows[0].upper);
    CHECK(curve->rows[1].measured == 399.5);
    CHECK(curve->rows[1].upper == 440);
    CHECK(curve->rows[2].failed);
    CHECK_FALSE(curve->rows[3].boundary());
    CHECK_FALSE(curve->rows[3].failed);
}

TEST_CASE("read_curve_csv: other columns and orders, LF and a byte order mark are fine") {
    const auto curve = read_curve_csv(
        "\xEF\xBB\xBFnew,measured_msgs_per_s,upper_msgs_per_s,lower_msgs_per_s,message_bytes\n"
        "x,9,12,10,100\n\n");
    REQUIRE(curve);
    REQUIRE(curve->rows.size() == 1);
    CHECK(curve->rows[0].upper == 12);
    const auto none = read_curve_csv(kHeader);
    REQUIRE(none);
    CHECK(none->rows.empty());
}

TEST_CASE("read_curve_csv: says which row and column is wrong") {
    CHECK(fault(kHeader + "a,b,1e3x,1,2,1,,\r\n") ==
          "row 2: message_bytes is \"1e3x\", not a number above 0");
    CHECK(fault(kHeader + "a,b,1,1,2,1,,\r\na,b,2,-1,2,1,,\r\n") ==
          "row 3: lower_msgs_per_s is \"-1\", not a number above 0");
    CHECK(fault(kHeader + "a,b,1,1,inf,1,,\r\n").find("upper_msgs_per_s") != std::string::npos);
    CHECK(fault(kHeader + "a,b,,1,2,1,,\r\n") == "row 2: message_bytes is empty");
    CHECK(fault("a,b\r\n1,2\r\n").find("no column message_bytes") != std::string::npos);
    CHECK(fault("").find("empty") != std::string::npos);
    CHECK(fault(kHeader + "\"a").find("quote") != std::string::npos);
}

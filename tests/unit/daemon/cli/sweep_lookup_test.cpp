#include "daemon/cli/sweep_lookup.hpp"

#include <doctest/doctest.h>

#include "daemon/cli/confirmation.hpp"
#include "daemon/cli/csv.hpp"

using namespace brink;
using namespace brink::cli;
using nlohmann::json;

namespace {

json sweep(const char* id, const char* state, const char* created) {
    return {{"id", id}, {"state", state}, {"created_at", created}};
}

}  // namespace

TEST_CASE("match_prefix: one sweep or an error that says how to go on") {
    const std::vector<json> sweeps{sweep("01AB", "running", "1"), sweep("01AC", "failed", "2"),
                                   sweep("01A", "failed", "3")};
    CHECK(match_prefix(sweeps, "01AB") == "01AB");
    CHECK(match_prefix(sweeps, "01ab") == "01AB");
    CHECK(match_prefix(sweeps, "01A") == "01A");
    CHECK(match_prefix(sweeps, "01").error().code == ErrorCode::invalid_input);
    CHECK(match_prefix(sweeps, "01").error().message.find("and 1 more") != std::string::npos);
    CHECK(match_prefix(sweeps, "02").error().code == ErrorCode::not_found);
}

TEST_CASE("choose_newest: an older sweep that runs wins over a newer one that has ended") {
    CHECK(choose_newest({sweep("A", "succeeded", "2026-01-02"), sweep("B", "stopping", "2026-01-01")}) ==
          "B");
    CHECK(choose_newest({sweep("A", "failed", "2026-01-01"), sweep("B", "cancelled", "2026-01-02")}) == "B");
    CHECK(choose_newest({sweep("A", "running", "2026-01-01"), sweep("B", "running", "2026-01-02")}) == "B");
    CHECK(choose_newest({}).error().code == ErrorCode::not_found);
}

TEST_CASE("remote_servers: one address elsewhere makes a cluster remote") {
    const auto remote = [](const char* servers) {
        return remote_servers({{"clusters", {{{"name", "c"}, {"bootstrap_servers", servers}}}}}, "c");
    };
    CHECK_FALSE(remote("127.0.0.1:9092, localhost:9093,[::1]:9094").has_value());
    CHECK(remote("127.0.0.1:9092,kafka1:9092,10.0.0.7:9092") == "kafka1:9092, 10.0.0.7:9092");
    CHECK(remote("localhost.example:9092").has_value());
    CHECK(remote("").has_value());
    CHECK_FALSE(remote_servers({{"clusters", json::array()}}, "c").has_value());
}

TEST_CASE("csv_row: quotes, and defuses formulas") {
    CHECK(csv_row({"a", "b,c", "d\"e", "=1+1"}) == "a,\"b,c\",\"d\"\"e\",'=1+1\r\n");
}

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/daemon/cli/fake_controller.hpp"

using namespace brink::cli;
using namespace brink::cli::test;
using nlohmann::json;

namespace {

const std::string kMetrics = std::string{BRINK_TEST_DATA} + "/metrics/";

int offline(FakeHost& user, std::vector<std::string> arguments) {
    return run(std::move(arguments), user.host());
}

}  // namespace

TEST_CASE("brink signals: an array with each source, what it shows, or why it cannot be judged") {
    FakeHost user;
    const auto good = kMetrics + "strimzi_jmx__agent1.0.1.txt";
    const auto bad = kMetrics + "kminion.txt";
    CHECK(offline(user, {"signals", good, bad, "--output", "json"}) == 4);
    const auto documents = json::parse(user.out);
    REQUIRE(documents.size() == 2);
    CHECK(documents[0]["source"] == good);
    CHECK(documents[0]["judgeable"] == true);
    CHECK(documents[0]["profile"] == "strimzi-jmx");
    CHECK(documents[0]["mode"] == "broker");
    CHECK(documents[0]["signals"]["io_idle"]["kind"] == "counter_ns");
    CHECK(documents[0]["signals"]["io_idle"]["value"] == 7.73086976865E11);
    CHECK(documents[0]["signals"]["io_idle"]["series"] ==
          "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_count_total");
    CHECK(documents[0]["signals"]["offline_partitions"].is_null());
    CHECK(documents[1]["judgeable"] == false);
    CHECK(documents[1]["reason"].get<std::string>().find("KMinion") != std::string::npos);
    CHECK(documents[1]["signals"]["io_idle"].is_null());
}

TEST_CASE("brink signals: standard input, an address, a file that is not there") {
    FakeHost user;
    std::ifstream file{kMetrics + "bitnami_chart__agent1.0.1.txt"};
    user.input = {std::istreambuf_iterator<char>{file}, {}};
    CHECK(offline(user, {"signals", "-"}) == 0);
    CHECK(user.out.find("profile bitnami") != std::string::npos);

    FakeController exporter;
    exporter.on("GET /metrics", {.status = 200, .body = user.input, .content_type = "text/plain"});
    FakeHost other;
    CHECK(offline(other, {"signals", exporter.url() + "/metrics"}) == 0);
    CHECK(offline(other, {"signals", exporter.url() + "/nothing"}) == 4);
    CHECK(other.out.find("HTTP 404") != std::string::npos);
    CHECK(offline(other, {"signals", "/nowhere.txt"}) == 4);
    CHECK(other.out.find("cannot read the file /nowhere.txt") != std::string::npos);
    CHECK(offline(other, {"signals"}) == 2);
    CHECK(offline(other, {"signals", "-", "--profile", "/nowhere.toml"}) == 78);
}

TEST_CASE("brink judge: verdict, reasons and windows; the exit code says it too") {
    const auto series = kMetrics + "series";
    FakeHost user;
    CHECK(offline(user, {"judge", series, "--from", "9", "--to", "22", "--output", "json"}) == 3);
    const auto document = json::parse(user.out);
    CHECK(document["verdict"] == "overloaded");
    CHECK(document["limited_by"] == "io_idle");
    CHECK(document["io_idle"]["value"].get<double>() < 0.13);
    CHECK(document["io_idle"]["uncertainty"].get<double>() < 0.1);
    CHECK(document["isr_churn"]["value"].is_number());
    CHECK(document["windows"].size() > 30);
    FakeHost healthy;
    CHECK(offline(healthy, {"judge", series, "--from", "28"}) == 0);
    CHECK(healthy.out.find("sustained") == 0);
    FakeHost short_one;
    CHECK(offline(short_one, {"judge", series, "--from", "28", "--to", "28", "--output", "json"}) == 4);
    CHECK(json::parse(short_one.out)["verdict"] == "invalid");
    FakeHost wrong;
    CHECK(offline(wrong, {"judge", series, "--from", "9", "--to", "8"}) == 2);
    CHECK(offline(wrong, {"judge", "/nowhere"}) == 2);
    CHECK(wrong.err.find("index.csv") != std::string::npos);
}

TEST_CASE("brink judge: a lifetime's average alone is refused") {
    const auto folder = std::filesystem::temp_directory_path() / "brink-judge-mean";
    std::filesystem::create_directories(folder);
    std::ofstream index{folder / "index.csv"};
    index << "seq,epoch_start,epoch_end,file\n";
    for (int seq = 1; seq <= 5; ++seq) {
        index << seq << ',' << 100 + seq * 5 << ',' << 101 + seq * 5 << ',' << seq << ".txt\n";
        std::ofstream{folder / (std::to_string(seq) + ".txt")}
            << "kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent 0.78\n";
    }
    index.close();
    FakeHost user;
    CHECK(offline(user, {"judge", folder.string(), "--output", "json"}) == 4);
    const auto reason = json::parse(user.out)["reasons"][0].get<std::string>();
    CHECK(reason.find("requesthandleravgidle_percent = 0.78") != std::string::npos);
    CHECK(reason.find("add to the JMX exporter's rules") != std::string::npos);
    std::filesystem::remove_all(folder);
}

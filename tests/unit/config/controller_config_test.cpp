#include "config/controller_config.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/agent_config.hpp"
#include "config/nearest_key.hpp"

using namespace brink;
namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& file) {
    std::ifstream in(file);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

/// A secret file that goes away with the test.
struct SecretFile {
    fs::path path = fs::temp_directory_path() / ("brink-secret-" + std::to_string(::getpid()));
    SecretFile(const std::string& text, fs::perms perms) {
        std::ofstream(path) << text;
        fs::permissions(path, perms);
    }
    ~SecretFile() { fs::remove(path); }
};

}  // namespace

TEST_CASE("parse_controller_config: reads clusters, metrics and agents") {
    const auto config =
        parse_controller_config(read(fs::path(BRINK_TEST_DATA) / "config/good/local.toml"), "local.toml");
    REQUIRE(config);
    CHECK(config->max_producers == 500);
    REQUIRE(config->cluster("local"));
    CHECK(config->cluster("local")->metrics.size() == 2);
    CHECK(config->cluster("local")->client.at("linger.ms") == "5");
    CHECK(config->cluster("other") == nullptr);
    CHECK(config->agents[0].url == "http://127.0.0.1:8700");
    CHECK(config->agents[1].name == "127.0.0.1:8701");
}

TEST_CASE("parse_controller_config: reads the guards of a cluster, and has defaults for them") {
    const auto config =
        parse_controller_config(read(fs::path(BRINK_TEST_DATA) / "config/good/local.toml"), "local.toml");
    REQUIRE(config);
    const auto& guards = config->cluster("local")->guards;
    CHECK(guards.under_min_isr_above == 2);
    CHECK(guards.log_disk_share_above == 0.8);
    CHECK(guards.foreign_mb_per_s_above == 2.5);
    REQUIRE(guards.signals.size() == 2);
    CHECK(guards.signals[0].above == 5e6);
    CHECK_FALSE(guards.signals[0].ends_sweep);
    CHECK(guards.signals[1].below == 0.05);
    CHECK(guards.signals[1].ends_sweep);
    CHECK(GuardConfig{}.offline_partitions_above == 0);
    CHECK_FALSE(GuardConfig{}.foreign_mb_per_s_above);
}

TEST_CASE("parse_controller_config: each bad file is refused with its line, key and what to change") {
    int files = 0;
    for (const auto& file : fs::directory_iterator(fs::path(BRINK_TEST_DATA) / "config/bad")) {
        ++files;
        const auto text = read(file.path());
        INFO(file.path().filename().string());
        const std::string marker = "# expect: ";
        REQUIRE(text.rfind(marker, 0) == 0);
        const auto expected = text.substr(marker.size(), text.find('\n') - marker.size());
        const auto config = parse_controller_config(text, "brink.toml");
        REQUIRE_FALSE(config);
        CHECK(config.error().code == ErrorCode::configuration);
        INFO(config.error().message);
        CHECK(config.error().message.find(expected) != std::string::npos);
        CHECK(config.error().message.find("brink.toml:") != std::string::npos);
    }
    CHECK(files >= 20);
}

TEST_CASE("parse_controller_config: a Prometheus server can be the source of a cluster's metrics") {
    const auto config = parse_controller_config(
        "[[clusters]]\nname = \"a\"\nbootstrap_servers = \"h:1\"\n"
        "[clusters.prometheus]\nurl = \"http://p:9090/prefix/\"\nlag_s = 20\n"
        "[[clusters.prometheus.brokers]]\nbroker_id = 7\nlabels = { instance = \"h:7071\", rack = 3 }\n",
        "brink.toml");
    REQUIRE(config);
    const auto& cluster = config->clusters[0];
    CHECK(cluster.metrics.empty());
    REQUIRE(cluster.prometheus);
    CHECK(cluster.prometheus->url == "http://p:9090/prefix");
    CHECK(cluster.prometheus->lag_s == 20);
    REQUIRE(cluster.prometheus->brokers.size() == 1);
    CHECK(cluster.prometheus->brokers[0].broker_id == 7);
    CHECK(cluster.prometheus->brokers[0].labels ==
          std::map<std::string, std::string>{{"instance", "h:7071"}, {"rack", "3"}});
}

TEST_CASE("parse_controller_config: the examples that ship are right") {
    int files = 0;
    for (const auto& file : fs::directory_iterator(fs::path(BRINK_SOURCE_DIR) / "config/examples")) {
        ++files;
        const auto config = parse_controller_config(read(file.path()), file.path().filename().string());
        CHECK_MESSAGE(config.has_value(), (config ? "" : config.error().message));
    }
    CHECK(files >= 2);
}

TEST_CASE("read_secret_file: refuses a file that others may read") {
    SecretFile open("s3cret\n", fs::perms::owner_read | fs::perms::others_read);
    const auto refused = read_secret_file(open.path);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("chmod 600") != std::string::npos);
    CHECK(refused.error().message.find("s3cret") == std::string::npos);
}

TEST_CASE("read_secret_file: takes the first line of a private file, refuses an empty one") {
    {
        SecretFile file("s3cret\r\nrest\n", fs::perms::owner_read);
        CHECK(read_secret_file(file.path).value() == "s3cret");
    }
    SecretFile empty("\n", fs::perms::owner_read);
    CHECK_FALSE(read_secret_file(empty.path));
    CHECK_FALSE(read_secret_file("/tmp"));
}

TEST_CASE("parse_agent_config: reads its keys and refuses others") {
    const auto config = parse_agent_config(
        "listen = \"127.0.0.1:9\"\nmax_producers = 5\nallowed_bootstrap_servers = [\"h:1\"]\n", "a.toml");
    REQUIRE(config);
    CHECK(config->max_producers == 5);
    CHECK(config->allowed_bootstrap_servers == std::vector<std::string>{"h:1"});
    CHECK_FALSE(parse_agent_config("lisen = \"x\"\n", "a.toml"));
    CHECK_FALSE(parse_agent_config("max_producers = 0\n", "a.toml"));
    CHECK_FALSE(parse_agent_config("allowed_bootstrap_servers = [1]\n", "a.toml"));
}

TEST_CASE("check_agent_config: off loopback a token is needed") {
    AgentConfig config;
    CHECK(check_agent_config(config));
    config.listen = "10.0.0.1:8700";
    CHECK_FALSE(check_agent_config(config));
    config.token = "t";
    CHECK(check_agent_config(config));
}

TEST_CASE("is_loopback: knows both families") {
    for (const char* a : {"127.0.0.1:1", "127.9.9.9:1", "localhost:1", "[::1]:1"}) CHECK(is_loopback(a));
    for (const char* a : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "example.org:1", "127.example.org:1"})
        CHECK_FALSE(is_loopback(a));
}

TEST_CASE("nearest_key: finds typing errors and nothing far") {
    CHECK(nearest_key("margn", {"name", "margin"}) == "margin");
    CHECK(nearest_key("xyz", {"name", "margin"}).empty());
    CHECK(nearest_key(std::string(100'000, 'a'), {"name"}).empty());
}

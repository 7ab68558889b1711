#include "daemon/cli/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/daemon/cli/fake_controller.hpp"

using namespace brink::cli;
using namespace brink::cli::test;
using nlohmann::json;

namespace {

struct Folder {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("brink-cli-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::string file(const std::string& name) const { return (path / name).string(); }
};

std::string content(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

json clusters(const char* servers) {
    return {{"clusters", {{{"name", "local"}, {"bootstrap_servers", servers}}}}};
}

void serve_start(FakeController& controller) {
    controller.on("GET /api/v1/clusters", 200, clusters("127.0.0.1:9092"));
    controller.on(
        "POST /api/v1/sweeps?validate_only", 200,
        {{"valid", true},
         {"warnings", {"no rack awareness"}},
         {"spec", {{"topic", {{"partitions_per_broker", 10}, {"replication_factor", "min(3, brokers)"}}}}},
         {"plan",
          {{"points", 2},
           {"trials_expected", 10},
           {"trials_worst", 16},
           {"minutes_expected", 30.0},
           {"minutes_worst", 48.0},
           {"agents", {{{"state", "ready"}}, {{"state", "unreachable"}}}},
           {"brokers", 3}}}});
    controller.on("POST /api/v1/sweeps", 202, sweep_document("pending"));
}

bool started(FakeController& controller) {
    for (const auto& [call, body] : controller.calls()) {
        if (call == "POST /api/v1/sweeps") return true;
    }
    return false;
}

const std::vector<std::string> kStart{"sweep", "start", "--cluster", "local", "--sizes", "100,1k"};

std::vector<std::string> start_with(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = kStart;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

}  // namespace

TEST_CASE("brink sweep start: tells the plan and what to do next") {
    FakeController controller;
    FakeHost user;
    serve_start(controller);
    CHECK(user.run(controller, kStart) == 0);
    CHECK(user.out ==
          "Started 01JDQ4 on local (3 brokers)\n"
          "  plan   2 sizes, about 10 trials (at most 16): about 30 min, at most 48 min\n"
          "  topic  brink-01JDQ4 (30 partitions, RF 3; deleted afterwards)\n"
          "  agents 1 of 2 ready\n  warning: no rack awareness\n");
    CHECK(user.err == "Next: brink watch 01JDQ4   Stop: brink sweep cancel 01JDQ4\n");
    CHECK(json::parse(controller.calls().back().second) ==
          json{{"cluster", "local"}, {"message_bytes", {100, 1000}}});
}

TEST_CASE("brink sweep start: reads a spec from standard input, and --validate-only starts nothing") {
    FakeController controller;
    FakeHost user;
    serve_start(controller);
    user.input = R"({"cluster":"local","message_bytes":[5]})";
    CHECK(user.run(controller, {"sweep", "start", "-", "--validate-only"}) == 0);
    CHECK_FALSE(started(controller));
    user.input = R"({"cluster":"local","cluster":"prod"})";
    CHECK(user.run(controller, {"sweep", "start", "-"}) == 2);
    CHECK(user.run(controller, {"sweep", "start", "/nonexistent/spec.json"}) == 2);
}

TEST_CASE("brink sweep start: a cluster elsewhere needs its name") {
    FakeController controller;
    serve_start(controller);
    controller.on("GET /api/v1/clusters", 200, clusters("kafka1:9092"));
    FakeHost user;
    CHECK(user.run(controller, kStart) == 2);
    CHECK(user.err.find("--confirm=local") != std::string::npos);
    CHECK(user.run(controller, start_with({"--confirm", "other"})) == 2);
    user.can_ask = true;
    user.answer = "no";
    CHECK(user.run(controller, kStart) == 2);
    user.answer = "local";
    CHECK(user.run(controller, start_with({"--no-input"})) == 2);
    CHECK_FALSE(started(controller));
    CHECK(user.run(controller, kStart) == 0);
    CHECK(started(controller));
    user.can_ask = false;
    CHECK(user.run(controller, start_with({"--confirm=local"})) == 0);
}

TEST_CASE("brink sweep start: a bad spec is 2 with pointers, a busy cluster 75") {
    FakeController controller;
    serve_start(controller);
    FakeHost user;
    controller.on("POST /api/v1/sweeps?validate_only", 400,
                  {{"detail", "the spec is not usable"},
                   {"errors", {{{"pointer", "/margin"}, {"detail", "must be below 1"}}}}});
    CHECK(user.run(controller, kStart) == 2);
    CHECK(user.err == "brink: the spec is not usable\n  /margin: must be below 1\n");
    controller.on("POST /api/v1/sweeps", 409, {{"detail", "busy with 01JDQ3"}});
    CHECK(user.run(controller, start_with({"--output", "json"})) == 75);
    CHECK(user.err.find("busy with 01JDQ3") != std::string::npos);
}

TEST_CASE("brink watch: the exit code is the sweep's end") {
    FakeController controller;
    const auto watched = [&controller](const char* state, const char* point) {
        serve_sweep(controller, state, point);
        FakeHost user;
        return user.run(controller, {"watch"});
    };
    CHECK(watched("succeeded", "done") == 0);
    CHECK(watched("succeeded", "failed") == 4);
    CHECK(watched("failed", "failed") == 4);
    CHECK(watched("cancelled", "done") == 5);
}

TEST_CASE("brink watch: a line a trial and a point, or JSON") {
    FakeController controller;
    serve_sweep(controller, "succeeded");
    FakeHost text;
    CHECK(text.run(controller, {"watch", "01j"}) == 0);
    CHECK(text.out ==
          "trial 1  100 B  4 × 10/s  sustained\n"
          "100 B: – / – producers ok/over, limit – msg/s, stopped by no room\n"
          "01JDQ4 succeeded after 1:00, 1 of 1 sizes\n");
    FakeHost lines;
    CHECK(lines.run(controller, {"watch", "--output", "jsonl"}) == 0);
    CHECK(std::count(lines.out.begin(), lines.out.end(), '\n') == 3);
    CHECK(json::parse(lines.out.substr(0, lines.out.find('\n')))["event"] == "trial_finished");
    FakeHost document;
    CHECK(document.run(controller, {"watch", "--output", "json"}) == 0);
    CHECK(json::parse(document.out)["sweep"]["state"] == "succeeded");
    CHECK(json::parse(document.out)["points"].size() == 1);
}

TEST_CASE("brink watch: follows until the end, repainting on a terminal") {
    FakeController controller;
    serve_sweep(controller, "running");
    FakeHost user;
    user.terminal = true;
    user.on_pause = [&controller] { serve_sweep(controller, "succeeded"); };
    CHECK(user.run(controller, {"watch"}) == 0);
    CHECK(user.out.starts_with("\x1b[J01JDQ4 RUNNING"));
    CHECK(user.out.find("\x1b[3F\x1b[J01JDQ4 SUCCEEDED") != std::string::npos);
}

TEST_CASE("brink watch: Ctrl-C only detaches") {
    FakeController controller;
    serve_sweep(controller, "running");
    FakeHost user;
    user.on_pause = [&user] { user.interrupted = true; };
    CHECK(user.run(controller, {"watch"}) == 130);
    CHECK(user.err.find("it goes on") != std::string::npos);
    for (const auto& [call, body] : controller.calls()) CHECK(call.starts_with("GET"));
}

TEST_CASE("brink watch: survives a short outage and says so") {
    FakeController controller;
    serve_sweep(controller, "running");
    FakeHost user;
    int pauses = 0;
    user.on_pause = [&] {
        ++pauses;
        if (pauses == 1) controller.on("GET /api/v1/sweeps/01JDQ4", 503, {{"detail", "starting"}});
        if (pauses == 30) serve_sweep(controller, "succeeded");
    };
    CHECK(user.run(controller, {"watch"}) == 0);
    CHECK(user.err.starts_with("reconnecting, data up to 14:22:07\nconnected again\n"));
}

TEST_CASE("brink watch: gives up when the controller stays away for a minute") {
    FakeController controller;
    serve_sweep(controller, "running");
    FakeHost user;
    int pauses = 0;
    user.on_pause = [&] {
        if (++pauses == 1) controller.stop();
    };
    CHECK(user.run(controller, {"watch"}) == 69);
    CHECK(pauses == 60);
}

TEST_CASE("brink: a controller that is not there, or is none, is 69") {
    FakeHost user;
    std::string gone;
    {
        FakeController controller;
        gone = controller.url();
        controller.on("GET /api/v1/agents", {200, "<html>hello</html>", "text/html"});
        CHECK(user.run(controller, {"agents"}) == 69);
    }
    CHECK(run({"agents", "--controller", gone}, user.host()) == 69);
    CHECK(user.err.find("cannot reach the controller at " + gone) != std::string::npos);
}

TEST_CASE("brink check: 0 when fit, 4 when not") {
    FakeController controller;
    FakeHost user;
    json report = {{"cluster", "local"},
                   {"fit", true},
                   {"problems", json::array()},
                   {"warnings", {"one agent only"}},
                   {"brokers",
                    {{{"id", 1},
                      {"host", "127.0.0.1"},
                      {"port", 9092},
                      {"judgeable", true},
                      {"idle_at_rest", 0.98},
                      {"signals", {{"io_idle_ns", {{"series", "kafka_idle_total"}, {"value", 12.0}}}}}}}},
                   {"agents", json::array()}};
    controller.on("GET /api/v1/clusters/local/check", 200, report);
    CHECK(user.run(controller, {"check", "local"}) == 0);
    CHECK(user.out.find("kafka_idle_total") != std::string::npos);
    CHECK(user.out.find("IO idle 98%") != std::string::npos);
    CHECK(user.err.find("Next: brink sweep start --cluster local") != std::string::npos);
    report["fit"] = false;
    report["problems"] = {"broker 1 exports no idle signal; turn on the JMX rule"};
    controller.on("GET /api/v1/clusters/local/check", 200, report);
    CHECK(user.run(controller, {"check", "local"}) == 4);
    CHECK(user.out.find("problem: broker 1 exports no idle signal") != std::string::npos);
    CHECK(user.run(controller, {"check", "other"}) == 2);
}

TEST_CASE("brink show: the first-crossing table of each size, and what rest warned of") {
    FakeController controller;
    serve_sweep(controller, "succeeded");
    auto sweep = sweep_document("succeeded");
    sweep["rest"] = {{{"broker_id", 2}, {"warnings", {"broker 2 started only 40 s ago"}}}};
    controller.on("GET /api/v1/sweeps/01JDQ4", 200, sweep);
    controller.on("GET /api/v1/sweeps/01JDQ4/points", 200,
                  {{"points",
                    {{{"point", 0},
                      {"message_bytes", 100},
                      {"state", "done"},
                      {"first_crossings",
                       {{{"signal", "request_queue"},
                         {"side", "above"},
                         {"mark", 8},
                         {"msgs_per_s", 12300},
                         {"value", 9.25}},
                        {{"signal", "io_idle"},
                         {"side", "below"},
                         {"mark", 0.2},
                         {"msgs_per_s", 18500},
                         {"value", 0.17}},
                        {{"signal", "p99_ms"},
                         {"side", "above"},
                         {"mark", 100},
                         {"msgs_per_s", nullptr},
                         {"value", nullptr}}}}}}}});
    FakeHost user;
    CHECK(user.run(controller, {"show", "01JDQ4"}) == 0);
    CHECK(user.out.find(
              "100 B first crossings: request_queue at 12.3k/s (9.25 > 8), io_idle at 18.5k/s (0.17 < 0.2); "
              "not crossed: p99_ms\n") != std::string::npos);
    CHECK(user.out.find("before the load: broker 2 started only 40 s ago\n") != std::string::npos);
}

TEST_CASE("brink list, show, cancel, delete, export") {
    FakeController controller;
    serve_sweep(controller, "succeeded");
    controller.on("POST /api/v1/sweeps/01JDQ4:cancel", 200, sweep_document("cancelled"));
    controller.on("DELETE /api/v1/sweeps/01JDQ4", {204, ""});
    controller.on("GET /api/v1/sweeps/01JDQ4/curve.csv", {200, "a,b\r\n1,2\r\n", "text/csv"});
    FakeHost user;
    CHECK(user.run(controller, {"list"}) == 0);
    CHECK(user.out.find("01JDQ4  local") != std::string::npos);
    CHECK(user.run(controller, {"show", "01JDQ4", "--trials"}) == 0);
    CHECK(user.run(controller, {"cancel", "01"}) == 0);
    CHECK(user.run(controller, {"sweep", "delete", "01"}) == 0);
    CHECK(user.run(controller, {"show", "77"}) == 2);
    user.out.clear();
    CHECK(user.run(controller, {"export", "01", "--csv"}) == 0);
    CHECK(user.out == "a,b\r\n1,2\r\n");
    const Folder folder;
    CHECK(user.run(controller, {"export", "01", "--csv", "-o", folder.file("curve.csv")}) == 0);
    CHECK(content(folder.file("curve.csv")) == "a,b\r\n1,2\r\n");
    CHECK(user.run(controller, {"export", "01", "-o", folder.file("no/such/folder.csv")}) == 2);
    controller.on("DELETE /api/v1/sweeps/01JDQ4", 409, {{"detail", "it is running"}});
    CHECK(user.run(controller, {"sweep", "delete", "01", "--yes"}) == 75);
    user.can_ask = true;
    user.answer = "n";
    CHECK(user.run(controller, {"sweep", "delete", "01"}) == 2);
}

TEST_CASE("brink backup: whole or not at all, and never over a file by accident") {
    FakeController controller;
    FakeHost user;
    const Folder folder;
    const std::string file = folder.file("copy.db");
    controller.on("GET /api/v1/backup", {200, "<html>", "text/html"});
    CHECK(user.run(controller, {"backup", file}) == 69);
    CHECK_FALSE(std::filesystem::exists(file));
    const std::string database = std::string{"SQLite format 3\0data", 20};
    controller.on("GET /api/v1/backup", {200, database, "application/vnd.sqlite3"});
    CHECK(user.run(controller, {"backup", file}) == 0);
    CHECK(content(file) == database);
    CHECK(user.run(controller, {"backup", file}) == 2);
    CHECK(user.run(controller, {"backup", file, "--force"}) == 0);
    CHECK(std::distance(std::filesystem::directory_iterator{folder.path}, {}) == 1);
}

TEST_CASE("brink: settings come from flags, then the environment, then the user's file, then the system's") {
    FakeController controller;
    controller.on("GET /api/v1/agents", 200, {{"agents", json::array()}});
    const Folder folder;
    std::filesystem::create_directories(folder.path / "brink");
    const auto write = [](const std::string& path, const std::string& text) { std::ofstream{path} << text; };
    FakeHost user;
    user.environment["XDG_CONFIG_HOME"] = folder.path.string();
    user.system_config = folder.file("system.toml");
    const auto agents = [&user] { return run({"agents"}, user.host()); };

    write(user.system_config, "controller = \"" + controller.url() + "/\"\n");
    CHECK(agents() == 0);
    write(folder.file("brink/config.toml"), "controller = \"http://127.0.0.1:1\"\n");
    CHECK(agents() == 69);
    user.environment["BRINK_CONTROLLER"] = controller.url();
    CHECK(agents() == 0);
    CHECK(run({"agents", "--controller", "http://127.0.0.1:1"}, user.host()) == 69);

    const std::string token = folder.file("token");
    write(token, "s3cret\n");
    std::filesystem::permissions(token,
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    user.environment["BRINK_TOKEN_FILE"] = token;
    CHECK(agents() == 0);
    CHECK(controller.authorization() == "Bearer s3cret");
    controller.on("GET /api/v1/agents", 401, {{"detail", "no"}});
    CHECK(agents() == 78);
    CHECK((user.out + user.err).find("s3cret") == std::string::npos);
}

TEST_CASE("brink: a wrong configuration is 78, a wrong flag 2") {
    const Folder folder;
    FakeHost user;
    user.system_config = folder.file("system.toml");
    for (const char* bad : {"controler = \"http://a:1\"", "controller = 7", "controller",
                            "controller = \"ftp://a\"", "token_file = \"/nonexistent\""}) {
        CAPTURE(bad);
        std::ofstream{user.system_config} << bad;
        CHECK(run({"agents"}, user.host()) == 78);
    }
    std::ofstream{user.system_config} << "";
    CHECK(run({"agents", "--controller", "nonsense"}, user.host()) == 2);
}

TEST_CASE("brink: a closed pipe is quiet") {
    FakeController controller;
    serve_sweep(controller, "succeeded");
    FakeHost user;
    user.closed_pipe = true;
    CHECK(user.run(controller, {"list"}) == 0);
    CHECK(user.err.empty());
    CHECK(run({"--help"}, user.host()) == 0);
}

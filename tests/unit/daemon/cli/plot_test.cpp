#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/daemon/cli/fake_controller.hpp"

using namespace brink::cli;
using namespace brink::cli::test;
using nlohmann::json;

namespace {

const std::string kCurve =
    "sweep_id,cluster,message_bytes,lower_msgs_per_s,upper_msgs_per_s,measured_msgs_per_s,flags,started_"
    "at\r\n"
    "01JDQ4,local,1000,1290,1505,1289.5,,2026-11-30T10:00:00.000Z\r\n"
    "01JDQ4,local,10000,1300,1456,1299.7,,2026-11-30T10:09:00.000Z\r\n"
    "01JDQ4,local,30000,,,,failed,\r\n";

struct Folder {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("brink-plot-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)));
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

void serve_curve(FakeController& controller, const std::string& state) {
    serve_sweep(controller, state);
    controller.on("GET /api/v1/sweeps/01JDQ4/curve.csv", {200, kCurve, "text/csv"});
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("brink plot: draws the newest ended sweep on the terminal") {
    FakeController controller;
    serve_curve(controller, "succeeded");
    FakeHost user;
    CHECK(user.run(controller, {"plot"}) == 0);
    for (const char* part : {"Limit curve: n", "●", "×", "10 kB", "1 MB/s", "20% headroom", "30 kB"})
        CHECK_MESSAGE(has(user.out, part), part);
    CHECK(user.out.find('\f') == std::string::npos);
    CHECK(user.err == "Next: brink plot 01JDQ4 --svg curve.svg\n");
}

TEST_CASE("brink plot: a sweep that still runs is drawn when it is named, and said to run") {
    FakeController controller;
    serve_curve(controller, "running");
    FakeHost user;
    CHECK(user.run(controller, {"plot"}) == 2);
    CHECK(has(user.err, "no sweep has ended yet"));
    CHECK(user.run(controller, {"plot", "01j"}) == 0);
    CHECK(has(user.err, "still running"));
}

TEST_CASE("brink plot --csv: writes pictures without a controller") {
    const Folder folder;
    std::ofstream{folder.file("a.csv"), std::ios::binary} << kCurve;
    FakeHost user;
    const std::vector<std::string> offline{"plot",
                                           "--csv",
                                           folder.file("a.csv"),
                                           "--svg",
                                           folder.file("a.svg"),
                                           "--png",
                                           folder.file("a.png"),
                                           "--compare",
                                           folder.file("a.csv"),
                                           "--title",
                                           "mine",
                                           "--controller",
                                           "http://127.0.0.1:1"};
    CHECK(run(offline, user.host()) == 0);
    CHECK(user.out.empty());
    CHECK(has(user.err, "Wrote " + folder.file("a.svg") + " and " + folder.file("a.png")));
    CHECK(has(content(folder.file("a.svg")), "<title id=\"brink-title\">mine</title>"));
    CHECK(has(content(folder.file("a.svg")), "Compared with a.csv"));
    CHECK(content(folder.file("a.png")).substr(1, 3) == "PNG");
    CHECK(run({"plot", "--csv", folder.file("a.csv"), "--svg", "-"}, user.host()) == 0);
    CHECK(user.out.starts_with("<?xml"));
}

TEST_CASE("brink plot: what cannot be drawn is 2 and says why") {
    const Folder folder;
    std::ofstream{folder.file("bad.csv")} << "a,b\n1,2\n";
    FakeHost user;
    const auto plotted = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"plot"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        user.err.clear();
        return run(arguments, user.host());
    };
    CHECK(plotted({"--csv", folder.file("none.csv")}) == 2);
    CHECK(has(user.err, "cannot open " + folder.file("none.csv")));
    CHECK(plotted({"--csv", folder.file("bad.csv")}) == 2);
    CHECK(has(user.err, "bad.csv: there is no column message_bytes"));
    for (const char* share : {"20", "100%", "-1%", "x"}) {
        CHECK(plotted({"--csv", folder.file("bad.csv"), "--headroom", share}) == 2);
        CHECK(has(user.err, "--headroom"));
    }
}

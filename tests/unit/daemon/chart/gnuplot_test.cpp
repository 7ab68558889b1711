#include "daemon/chart/gnuplot.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "daemon/chart/curve_chart.hpp"

using namespace brink;
using namespace brink::chart;
namespace fs = std::filesystem;

namespace {

Curve four_sizes() {
    Curve curve;
    curve.name = "x'; system('touch owned') # <b> & `touch owned` {/Bold}";
    const double rates[] = {1290, 1300, 868, 688};
    const double sizes[] = {1000, 10'000, 30'000, 100'000};
    for (int i = 0; i < 4; ++i) {
        CurveRow row;
        row.message_bytes = sizes[i];
        row.lower = rates[i];
        row.measured = rates[i];
        row.upper = rates[i] * 1.12;
        curve.rows.push_back(row);
    }
    curve.rows[3].upper.reset();
    return curve;
}

Chart chart_for(Canvas canvas) {
    ChartOptions options;
    options.canvas = canvas;
    if (canvas == Canvas::terminal) options.width = 90, options.height = 26;
    return draw_curve(four_sizes(), options).value();
}

/// A program of a few shell lines in a folder of its own.
struct Program {
    explicit Program(const std::string& body) {
        fs::create_directories(folder);
        std::ofstream{path} << "#!/bin/sh\n" << body << "\n";
        ::chmod(path.c_str(), 0700);
    }
    ~Program() { fs::remove_all(folder); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    static inline int number = 0;
    fs::path folder = fs::temp_directory_path() /
                      ("brink-gnuplot-test-" + std::to_string(::getpid()) + "-" + std::to_string(++number));
    fs::path path = folder / "plot";
};

}  // namespace

TEST_CASE("Gnuplot: draws an SVG whose texts are ours") {
    const auto chart = chart_for(Canvas::svg);
    const auto drawn = Gnuplot{}.draw(chart.script);
    REQUIRE_MESSAGE(drawn, drawn.error().message);
    const auto svg = described_svg(*drawn, chart);
    CHECK(svg.find("<title id=\"brink-title\">Limit curve: x'; system(") != std::string::npos);
    CHECK(svg.find("100 MB/s") != std::string::npos);
    CHECK(svg.find("message size (bytes/message)") != std::string::npos);
    CHECK(svg.find("≥ 688") != std::string::npos);
    CHECK(svg.find("<b>") == std::string::npos);
    CHECK(svg.find("GNUPLOT") == std::string::npos);
    CHECK(svg.find("</svg>") != std::string::npos);
    CHECK_FALSE(fs::exists("owned"));
}

TEST_CASE("Gnuplot: draws a PNG of twice the size") {
    const auto drawn = Gnuplot{}.draw(chart_for(Canvas::png).script);
    REQUIRE_MESSAGE(drawn, drawn.error().message);
    REQUIRE(drawn->size() > 10'000);
    CHECK(drawn->substr(0, 8) == "\x89PNG\r\n\x1a\n");
    const auto big_endian = [&drawn](std::size_t at) {
        return static_cast<unsigned char>((*drawn)[at + 2]) * 256 +
               static_cast<unsigned char>((*drawn)[at + 3]);
    };
    CHECK(big_endian(16) == 1920);
    CHECK(big_endian(20) == 1200);
}

TEST_CASE("Gnuplot: draws on a terminal without control characters") {
    const auto chart = chart_for(Canvas::terminal);
    const auto drawn = Gnuplot{}.draw(chart.script);
    REQUIRE_MESSAGE(drawn, drawn.error().message);
    const auto text = trimmed_drawing(*drawn);
    for (const char* part : {"●", "×", "↑", "100 kB", "1k", "10 MB/s", "bytes/message", "messages/s"})
        CHECK_MESSAGE(text.find(part) != std::string::npos, part);
    CHECK(std::none_of(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F;
    }));
    CHECK(std::count(text.begin(), text.end(), '\n') <= 26);
    CHECK_FALSE(fs::exists("owned"));
}

TEST_CASE("Gnuplot: a program that is missing, refuses, hangs, or floods is an error that says so") {
    const auto missing = Gnuplot{"/nonexistent/gnuplot"}.draw("plot x\n");
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == ErrorCode::configuration);
    CHECK(missing.error().message.find("gnuplot-nox") != std::string::npos);

    const auto refused = Gnuplot{}.draw("frobnicate\n");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("invalid command") != std::string::npos);

    const auto silent = Gnuplot{}.draw("x = 1\n");
    REQUIRE_FALSE(silent);
    CHECK(silent.error().message.find("said nothing") != std::string::npos);

    const Program hangs{"exec sleep 60"};
    const auto late = Gnuplot{hangs.path}.draw("plot x\n", std::chrono::milliseconds{200});
    REQUIRE_FALSE(late);
    CHECK(late.error().code == ErrorCode::timed_out);

    const Program floods{"exec cat /dev/zero"};
    const auto flood = Gnuplot{floods.path}.draw("plot x\n");
    REQUIRE_FALSE(flood);
    CHECK(flood.error().message.find("more than") != std::string::npos);

    // It dies before it has read its script: no signal, an error.
    const Program dies{"echo gone >&2; exit 3"};
    const auto dead = Gnuplot{dies.path}.draw(std::string(4'000'000, '#'));
    REQUIRE_FALSE(dead);
    CHECK(dead.error().message.find("gone") != std::string::npos);
}

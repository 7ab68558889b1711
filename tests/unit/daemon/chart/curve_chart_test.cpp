#include "daemon/chart/curve_chart.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "daemon/chart/gnuplot_text.hpp"
#include "daemon/chart/plane.hpp"

using namespace brink;
using namespace brink::chart;

namespace {

CurveRow row(double bytes, std::optional<double> lower, std::optional<double> upper) {
    CurveRow made;
    made.message_bytes = bytes;
    made.lower = lower;
    made.upper = upper;
    if (lower) made.measured = *lower - 1;
    return made;
}

Curve curve_of(std::vector<CurveRow> rows) {
    Curve curve;
    curve.sweep = "01JDQ4";
    curve.cluster = "prod-eu";
    curve.rows = std::move(rows);
    return curve;
}

Chart drawn(const Curve& curve, const ChartOptions& options = {}) {
    const auto chart = draw_curve(curve, options);
    REQUIRE(chart);
    return *chart;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const Curve kTwo = curve_of({row(1000, 1290, 1505), row(10000, 1300, 1456)});

}  // namespace

TEST_CASE("draw_curve: the values are in the script as they are, on logarithmic axes") {
    const auto script = drawn(kTwo).script;
    CHECK(has(script, "set logscale xy"));
    CHECK(has(script, "$curve << EOD\n1000 1289\n10000 1299\n"));
    CHECK(has(script, "$bars << EOD\n1000 1289\n1000 1505\n\n10000 1299\n10000 1456\n"));
    CHECK(has(script, "$uppers << EOD\n1000 1505\n10000 1456\n"));
    CHECK(has(script, "$headroom << EOD\n1000 1031.2\n10000 1039.2\n"));
    for (const char* colour : {"#0072B2", "#D55E00", "#009E73", "#E69F00"}) CHECK(has(script, colour));
    CHECK_FALSE(has(script, "smooth"));
    CHECK(has(script, "'1 kB' 1000"));
    CHECK(has(script, "'1k' 1000"));
}

TEST_CASE("draw_curve: a headroom of 0 has no line, one out of range is refused") {
    ChartOptions options;
    options.headroom = 0;
    CHECK_FALSE(has(drawn(kTwo, options).script, "headroom"));
    options.headroom = 1;
    CHECK_FALSE(draw_curve(kTwo, options));
    options.headroom = -0.1;
    CHECK_FALSE(draw_curve(kTwo, options));
}

TEST_CASE("draw_curve: one size is a marker and a bar without bands") {
    const auto script = drawn(curve_of({row(1000, 400, 440)})).script;
    CHECK(has(script, "$curve << EOD\n1000 399\n"));
    CHECK_FALSE(has(script, "filledcurves"));
}

TEST_CASE("draw_curve: an arrow where nothing overloaded was seen") {
    const auto chart = drawn(curve_of({row(100, 1920, std::nullopt), row(1000, 400, 440)}));
    CHECK(has(chart.script, "set arrow from 100,1919 to 100,"));
    CHECK(has(chart.script, "'≥ 1.92k'"));
    CHECK(has(chart.script, "$uppers << EOD\n1000 440\n"));
    CHECK(has(chart.description, "100 B: 1.92k messages/s sustained, nothing overloaded was seen."));
    ChartOptions options;
    options.canvas = Canvas::terminal;
    options.width = 80;
    options.height = 20;
    CHECK(has(drawn(curve_of({row(100, 1920, std::nullopt)}), options).script, "pointtype '↑'"));
}

TEST_CASE("draw_curve: failed sizes interrupt the line and are named below") {
    CurveRow failed = row(10'000, std::nullopt, std::nullopt);
    failed.failed = true;
    const auto chart = drawn(curve_of(
        {row(100, 1920, 2000), row(1000, 400, 440), failed, row(100'000, 4, 5), row(1e6, std::nullopt, 3)}));
    CHECK(has(chart.script, "$curve << EOD\n100 1919\n1000 399\n\n100000 3\n\nEOD"));
    CHECK(has(chart.script, "'Left out, without an answer: 10 kB'"));
    CHECK(has(chart.script, "'One producer was already too much: 1 MB below 3 msg/s'"));
    CHECK_FALSE(has(chart.script, "\n10000 "));
    CHECK(has(chart.description, "1 MB: 3 messages/s overloaded, nothing sustained was seen."));
}

TEST_CASE("draw_curve: nothing to draw is an error that says so") {
    const auto empty = draw_curve(curve_of({}), {});
    REQUIRE_FALSE(empty);
    CHECK(empty.error().code == ErrorCode::invalid_input);
    CHECK(has(empty.error().message, "nothing to draw"));
    CurveRow failed = row(1000, std::nullopt, std::nullopt);
    failed.failed = true;
    const auto none = draw_curve(curve_of({failed}), {});
    REQUIRE_FALSE(none);
    CHECK(has(none.error().message, "1 kB"));
}

TEST_CASE("draw_curve: no name or title can become a gnuplot command") {
    Curve curve = kTwo;
    curve.name = "x'; system('touch /tmp/owned') #\nset output '/tmp/owned'\n`id` @m {/Bold}\\\"";
    curve.cluster = curve.name;
    curve.sweep = curve.name;
    ChartOptions options;
    options.compare = curve;
    for (const auto canvas : {Canvas::svg, Canvas::png, Canvas::terminal}) {
        options.canvas = canvas;
        options.width = canvas == Canvas::terminal ? 80 : 960;
        options.height = canvas == Canvas::terminal ? 24 : 600;
        const auto chart = drawn(curve, options);
        // Every quote of the text is doubled, so that it stays inside its string, and there is no new line.
        CHECK_FALSE(has(chart.script, "x';"));
        CHECK(has(chart.script, "x''; system(''touch"));
        CHECK_FALSE(has(chart.script, "\nset output"));
        for (const auto& line : chart.legend) CHECK(line.find('\n') == std::string::npos);
    }
}

TEST_CASE("quoted: single quotes doubled, controls and broken UTF-8 replaced, length bounded") {
    CHECK(quoted("it's") == "'it''s'");
    CHECK(quoted("a\nb\x1b[31m") == "'a?b?[31m'");
    CHECK(quoted("caf\xC3\xA9") == "'café'");
    CHECK(quoted("\xC3") == "'?'");
    CHECK(quoted("\xED\xA0\x80") == "'" + std::string(3, '?') + "'");
    CHECK(quoted("abcdef", 4) == "'abc…'");
    CHECK(xml_text("<a & \"b\">") == "&lt;a &amp; &quot;b&quot;&gt;");
}

TEST_CASE("draw_curve: a comparison has its own line, colour and dash") {
    ChartOptions options;
    options.compare = curve_of({row(1000, 900, 1000), row(10000, 800, 900)});
    options.compare->name = "before";
    const auto chart = drawn(kTwo, options);
    CHECK(has(chart.script, "$curve_other << EOD\n1000 899\n10000 799\n"));
    CHECK(has(chart.script, "#56B4E9"));
    CHECK(has(chart.script, "title 'before'"));
    CHECK(has(chart.description, "Compared with before: 1 kB: 899 messages/s sustained, 1.00k overloaded."));
}

TEST_CASE("diagonals: only those that cross the plane, labels off the curve") {
    const Plane plane{{500, 200'000}, {300, 3000}, 800, 400};
    const Path curve{{1000, 1290}, {10'000, 1300}, {30'000, 868}, {100'000, 688}};
    const auto lines = diagonals(plane, {curve}, 80);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].label == "1 MB/s");
    CHECK(lines[2].label == "100 MB/s");
    for (const auto& line : lines) {
        CHECK(line.from.x * line.from.y == doctest::Approx(line.to.x * line.to.y));
        CHECK(plane.x.contains(line.label_at.x));
        CHECK(plane.y.contains(line.label_at.y));
        for (std::size_t i = 0; i + 1 < curve.size(); ++i) {
            for (const auto& spot : along(plane, curve[i], curve[i + 1], 5)) {
                CHECK(std::hypot(plane.across(spot.x) - plane.across(line.label_at.x),
                                 plane.up(spot.y) - plane.up(line.label_at.y)) > 40);
            }
        }
    }
}

TEST_CASE("plane_around: shows every end and the headroom, at least a decade") {
    const auto plane = plane_around({kTwo}, 0.2, 800, 400, {.beside = 80, .below = 40, .above = 60});
    CHECK(plane.x.from < 1000);
    CHECK(plane.x.to > 10'000);
    CHECK(plane.y.from < 1289 * 0.8);
    CHECK(plane.y.to > 1505);
    CHECK(plane.y.decades() >= doctest::Approx(1.0));
    CHECK(plane.across(1000) >= doctest::Approx(80));
    CHECK(plane.height - plane.up(1505) >= doctest::Approx(60));
}

TEST_CASE("ticks: powers of ten, and 2 and 5 where these are few") {
    const auto labels = [](const std::vector<Tick>& ticks) {
        std::vector<std::string> named;
        for (const auto& tick : ticks) {
            if (!tick.label.empty()) named.push_back(tick.label);
        }
        return named;
    };
    CHECK(labels(size_ticks({50, 200'000})) == std::vector<std::string>{"100 B", "1 kB", "10 kB", "100 kB"});
    CHECK(labels(rate_ticks({900, 2e6})) == std::vector<std::string>{"1k", "10k", "100k", "1M"});
    CHECK(labels(rate_ticks({300, 3000})) == std::vector<std::string>{"500", "1k", "2k"});
}

TEST_CASE("described_svg: title and description are the chart's, escaped; plots have no tooltips") {
    Chart chart;
    chart.title = "a <b>";
    chart.description = "in words";
    const auto svg = described_svg(
        "<svg \n width=\"1\">\n<title>Gnuplot</title>\n<desc>Produced by GNUPLOT</desc>\n"
        "<g id=\"gnuplot_plot_1\" ><title>gnuplot_plot_1</title>\n</g></svg>\n",
        chart);
    CHECK(svg ==
          "<svg role=\"img\" aria-labelledby=\"brink-title brink-desc\" \n width=\"1\">\n"
          "<title id=\"brink-title\">a &lt;b&gt;</title>\n<desc id=\"brink-desc\">in words</desc>\n"
          "<g id=\"gnuplot_plot_1\" >\n</g></svg>\n");
}

TEST_CASE("trimmed_drawing: no form feed, no empty ends, no trailing spaces") {
    CHECK(trimmed_drawing("\f   \n  a  \n\n b\n   \n") == "  a\n\n b\n");
}

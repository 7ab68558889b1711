#include "config/metrics_profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace brink;

namespace {

std::string fault_of(const std::string& text) {
    const auto profile = parse_metrics_profile(text, "p.toml");
    REQUIRE(!profile);
    CHECK(profile.error().code == ErrorCode::configuration);
    return profile.error().message;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kHead = "name = 'p'\n[[series]]\nsignal = 'io_idle'\n";

}  // namespace

TEST_CASE("shipped_profiles: every one is read, names differ, and each can judge or says why not") {
    std::set<std::string> names;
    for (const auto& profile : shipped_profiles()) {
        CAPTURE(profile.name);
        CHECK(names.insert(profile.name).second);
        CHECK(!profile.source.empty());
        const bool idle =
            std::any_of(profile.series.begin(), profile.series.end(), [](const ProfileSeries& s) {
                return s.signal == "io_idle" && s.kind != SeriesKind::mean && s.pool != Pool::controller;
            });
        CHECK(idle == profile.refused_because.empty());
    }
    CHECK(names.size() >= 15);
}

TEST_CASE("parse_metrics_profile: kinds, pools, labels and types") {
    const auto profile = parse_metrics_profile(
        "name = 'p'\nexporter = 'ours'\nseries = [\n"
        "{ signal = 'io_idle', name = 'x', kind = 'counter_ns', pool = 'broker', labels = { 'name' = "
        "'*Percent' }, "
        "types = ['counter', ''] },\n"
        "{ signal = 'network_idle', name = 'n', kind = 'gauge', join = 'least' },\n]\n",
        "p.toml");
    REQUIRE(profile);
    const auto& idle = profile->series.front();
    CHECK(idle.kind == SeriesKind::counter_ns);
    CHECK(idle.pool == Pool::broker);
    CHECK(idle.join == Join::one);
    CHECK(idle.labels.at("name") == "*Percent");
    CHECK(idle.types == std::vector<std::string>{"counter", ""});
    CHECK(profile->series.back().join == Join::least);
    CHECK(profile->exporter == "ours");
}

TEST_CASE("parse_metrics_profile: faults name the line, the value and what to change") {
    CHECK(has(fault_of("name = 'p'\n"), "series: is required"));
    CHECK(has(fault_of("[[series]]\nsignal='io_idle'\nname='x'\nkind='counter_ns'\n"), "name: is required"));
    CHECK(has(fault_of(kHead + "name = 'x'\nkind = 'nanoseconds'\n"), "must be one of counter_ns, gauge_1m"));
    CHECK(has(fault_of(kHead + "name = 'X'\nkind = 'counter_ns'\n"), "lower case"));
    CHECK(has(fault_of(kHead + "name = 'x_total'\nkind = 'counter_ns'\n"), "_total"));
    CHECK(has(fault_of(kHead + "name = 'x'\nkind = 'counter'\n"), "are for the signal io_idle"));
    CHECK(has(fault_of(kHead + "name = 'x'\nkind = 'counter_ns'\nlabel = {}\n"), "did you mean 'labels'"));
    CHECK(has(fault_of("name = \n"), "p.toml:1"));
    CHECK(has(read_metrics_profile("/nowhere/p.toml").error().message, "/nowhere/p.toml"));
}

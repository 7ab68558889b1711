#include "daemon/api/routes.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "daemon/api/views.hpp"

using namespace brink;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A controller without clusters or agents, over a real store.
struct Api {
    Api() {
        fs::create_directories(folder);
        store = std::move(storage::SweepStore::open(folder / "s.sqlite").value());
        sweeps = std::make_unique<SweepService>(config, http, *store, clock, 1, nullptr);
        router = api::make_router({*sweeps, *store, metrics, clock, folder});
    }
    ~Api() {
        sweeps.reset();
        store.reset();
        fs::remove_all(folder);
    }
    net::HttpResponse call(const std::string& method, const std::string& path, const std::string& body = "") {
        net::HttpRequest request{.method = method, .path = path};
        request.body = body;
        request.headers.emplace_back("Content-Type", "application/json");
        return router(request);
    }
    static inline int number = 0;
    fs::path folder = fs::temp_directory_path() /
                      ("brink-api-test-" + std::to_string(::getpid()) + "-" + std::to_string(++number));
    ControllerConfig config;
    net::HttpClient http;
    SystemClock clock;
    api::OwnMetrics metrics;
    std::unique_ptr<storage::SweepStore> store;
    std::unique_ptr<SweepService> sweeps;
    net::Router router;
};

}  // namespace

TEST_CASE("make_router: openapi.yaml describes exactly the routes that there are") {
    std::ifstream in(fs::path(BRINK_SOURCE_DIR) / "daemon/api/openapi.yaml");
    std::set<std::string> described;
    std::string path;
    bool in_paths = false;
    for (std::string line; std::getline(in, line);) {
        if (line == "paths:") in_paths = true;
        if (line == "components:") in_paths = false;
        if (!in_paths) continue;
        if (line.rfind("  /", 0) == 0) path = line.substr(2, line.size() - 3);
        for (const char* method : {"get", "post", "put", "delete"}) {
            if (line == "    " + std::string(method) + ":")
                described.insert(std::string(method) + " " + path);
        }
    }
    std::set<std::string> routed;
    Api api;
    for (auto [method, pattern] : api.router.routes()) {
        std::transform(method.begin(), method.end(), method.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        routed.insert(method + " " + pattern);
    }
    CHECK(routed == described);
    CHECK(routed.size() > 15);
}

TEST_CASE("API: what is not there is a problem with 404, what is broken one with 400") {
    Api api;
    for (const char* path : {"/api/v1/sweeps/x", "/api/v1/sweeps/x/points", "/api/v1/sweeps/x/trials",
                             "/api/v1/sweeps/x/curve.csv", "/api/v1/clusters/x/check", "/nothing"}) {
        const auto response = api.call("GET", path);
        CHECK(response.status == 404);
        CHECK(response.content_type == "application/problem+json");
        CHECK(json::parse(response.body).at("status") == 404);
    }
    CHECK(api.call("POST", "/api/v1/sweeps/x:cancel").status == 404);
    CHECK(api.call("PUT", "/api/v1/sweeps").status == 405);
    const auto bad = api.call("POST", "/api/v1/sweeps", R"({"cluster":"c","message_bytes":[0]})");
    CHECK(bad.status == 400);
    CHECK(json::parse(bad.body).at("errors").at(0).at("pointer") == "/message_bytes/0");
    const auto unknown = api.call("POST", "/api/v1/sweeps", R"({"cluster":"c","message_bytes":[1]})");
    CHECK(unknown.status == 400);
    CHECK(json::parse(unknown.body).at("errors").at(0).at("pointer") == "/cluster");
    CHECK(api.call("POST", "/api/v1/sweeps", "{").status == 400);
}

TEST_CASE("API: a stored sweep is listed, shown, exported and deleted") {
    Api api;
    storage::SweepRow sweep{.id = "S1", .cluster = "c"};
    sweep.state = "succeeded";
    SweepSpec spec;
    spec.cluster = "c";
    spec.message_bytes = {1000};
    sweep.spec_json = to_json(spec).dump();
    sweep.created_at_ms = 1'700'000'000'123;
    storage::PointRow point{.sweep_id = "S1", .message_bytes = 1000};
    point.state = "done";
    point.lower_producers = 4;
    point.lower_msgs_per_s = 0.1;
    point.flags = "at_least short_window";
    REQUIRE(api.store->create_sweep(sweep, {point}));
    const auto shown = json::parse(api.call("GET", "/api/v1/sweeps/S1").body);
    CHECK(shown.at("created_at") == "2023-11-14T22:13:20.123Z");
    CHECK(shown.at("progress").at("points_done") == 1);
    CHECK(shown.at("spec").at("margin") == 0.05);
    const auto points = json::parse(api.call("GET", "/api/v1/sweeps/S1/points").body).at("points");
    CHECK(points.at(0).at("flags") == json{"at_least", "short_window"});
    CHECK(points.at(0).at("upper_producers").is_null());
    CHECK(api.call("GET", "/api/v1/sweeps/S1/curve.csv").body.find(",0.1,") != std::string::npos);
    CHECK(json::parse(api.call("GET", "/api/v1/sweeps").body).at("sweeps").size() == 1);
    const auto samples = api.call("GET", "/api/v1/sweeps/S1/trials/x/samples");
    CHECK(samples.status == 400);
    CHECK(api.call("GET", "/api/v1/sweeps/S1/trials/1/samples").status == 404);
    CHECK(api.call("DELETE", "/api/v1/sweeps/S1").status == 204);
    CHECK(api.call("GET", "/api/v1/sweeps/S1").status == 404);
}

TEST_CASE("API: pages go on where the last one ended, and odd sizes are coerced") {
    Api api;
    for (const char* id : {"A", "B", "C"}) {
        storage::SweepRow sweep{.id = id, .cluster = "c"};
        sweep.spec_json = "{}";
        REQUIRE(api.store->create_sweep(sweep, {}));
    }
    auto page = [&](const std::string& size, const std::string& token) {
        net::HttpRequest request{.method = "GET", .path = "/api/v1/sweeps"};
        request.query = {{"page_size", size}};
        if (!token.empty()) request.query.emplace_back("page_token", token);
        return json::parse(api.router(request).body);
    };
    const auto first = page("2", "");
    CHECK(first.at("sweeps").size() == 2);
    const auto second = page("2", first.at("next_page_token"));
    CHECK(second.at("sweeps").size() == 1);
    CHECK(second.at("next_page_token").is_null());
    for (const char* odd : {"0", "-1", "abc", "99999999999999"})
        CHECK(page(odd, "").at("sweeps").size() >= 1);
}

TEST_CASE("API: health, readiness, metrics, description and backup answer") {
    Api api;
    CHECK(api.call("GET", "/healthz").status == 200);
    CHECK(api.call("GET", "/readyz").status == 200);
    storage::TrialRow trial;
    trial.verdict = "sustained";
    api.metrics.trial_finished(trial);
    const auto metrics = api.call("GET", "/metrics").body;
    CHECK(metrics.find("brink_trials_total{") != std::string::npos);
    CHECK(metrics.find("brink_build_info{") != std::string::npos);
    CHECK(api.call("GET", "/openapi.yaml").body.rfind("openapi: 3.1", 0) == 0);
    const auto backup = api.call("GET", "/api/v1/backup");
    REQUIRE(backup.file);
    CHECK(fs::file_size(*backup.file) > 0);
    CHECK(json::parse(api.call("GET", "/api/v1/agents").body).at("agents").empty());
    CHECK(json::parse(api.call("GET", "/api/v1/clusters").body).at("clusters").empty());
}

TEST_CASE("API: the live page is served whole, with a policy that lets nothing foreign in") {
    Api api;
    const std::vector<std::array<const char*, 3>> files{
        {"/", "index.html", "text/html; charset=utf-8"},
        {"/live.css", "live.css", "text/css; charset=utf-8"},
        {"/live.js", "live.js", "text/javascript; charset=utf-8"}};
    for (const auto& [path, file, type] : files) {
        const auto response = api.call("GET", path);
        std::ifstream in(fs::path(BRINK_SOURCE_DIR) / "daemon/web" / file, std::ios::binary);
        std::ostringstream source;
        source << in.rdbuf();
        CHECK(response.status == 200);
        CHECK(response.content_type == type);
        CHECK(response.body == source.str());
        std::map<std::string, std::string> headers(response.headers.begin(), response.headers.end());
        const auto policy = headers["Content-Security-Policy"];
        CHECK(policy.rfind("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
                           0) == 0);
        CHECK(policy.find("unsafe") == std::string::npos);
        CHECK(headers["X-Content-Type-Options"] == "nosniff");
        // What the policy would block, or what would make text into markup, must not be in it.
        for (const char* never : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                                  "http://", "https://", " style=", " onclick="}) {
            if (std::string(never) == "http://" && std::string(file) == "live.js")
                continue;  // a default address
            CHECK_MESSAGE(response.body.find(never) == std::string::npos, never);
        }
    }
}

TEST_CASE("API: with a token the page and the probes are open, the data is not") {
    Api api;
    api.router.require_token("secret", api::open_paths());
    for (const char* path : {"/", "/live.css", "/live.js", "/healthz", "/readyz"})
        CHECK(api.call("GET", path).status == 200);
    for (const auto& [method, path] : api.router.routes()) {
        const auto open = api::open_paths();
        if (std::find(open.begin(), open.end(), path) != open.end()) continue;
        CHECK_MESSAGE(api.call(method, path).status == 401, path);
    }
}

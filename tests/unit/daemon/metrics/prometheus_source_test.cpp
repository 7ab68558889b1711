#include "daemon/metrics/prometheus_source.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/unit/daemon/metrics/fake_prometheus.hpp"

using namespace brink;
using brink::test::FakePrometheus;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kPatience{5'000};

PrometheusConfig server_at(const std::string& url) {
    PrometheusConfig server;
    server.url = url;
    server.lag_s = 3;
    server.brokers = {{.broker_id = 7, .labels = {{"instance", "h:7071"}}}};
    return server;
}

bool has(const Error& error, const std::string& part) {
    return error.message.find(part) != std::string::npos;
}

/// A source of one broker that Prometheus has scraped every second, up to a second ago.
struct Bench {
    FakePrometheus prometheus;
    net::HttpClient http;
    double last_s = prometheus.now_s() - 1;
    PrometheusSource source{http, server_at(prometheus.url())};

    Bench() {
        for (int i = 5; i >= 0; --i) prometheus.scrape("h:7071", last_s - i, 1e12 + (5 - i) * 0.5e9);
    }
    /// The one error of a call.
    Error error() {
        const auto scrapes = source.scrape_all(kPatience);
        REQUIRE(scrapes.size() == 1);
        CHECK(scrapes[0].broker_id == 7);
        CHECK_FALSE(scrapes[0].nothing_new);
        REQUIRE_FALSE(scrapes[0].reading);
        CHECK(has(scrapes[0].reading.error(), "metrics of broker 7 at http://127.0.0.1:"));
        CHECK(has(scrapes[0].reading.error(), "{instance=\"h:7071\"}"));
        return scrapes[0].reading.error();
    }
};

net::HttpResponse response(int status, std::string type, std::string body) {
    return {status, std::move(type), std::move(body), {}, {}};
}

}  // namespace

TEST_CASE("PrometheusSource: hands out stored scrapes once, at the times that Prometheus made them") {
    Bench bench;
    const double offset_s = bench.prometheus.offset_s();
    const auto unix_s = [] {
        return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    };
    const double unix_offset_s = unix_s() - FakePrometheus::monotonic_s();
    const auto scrapes = bench.source.scrape_all(kPatience);
    REQUIRE(scrapes.size() == 3);
    double before_s = 0;
    for (const auto& scrape : scrapes) {
        REQUIRE(scrape.reading);
        CHECK(scrape.broker_id == 7);
        const auto& sample = scrape.reading->sample;
        if (before_s > 0) CHECK(sample.at_s - before_s == doctest::Approx(1).epsilon(1e-6));
        before_s = sample.at_s;
        CHECK(sample.isr_shrinks == 16);
        CHECK(scrape.reading->scrape_ms == doctest::Approx(200));
        CHECK(std::abs(static_cast<double>(scrape.reading->at_unix_ms) / 1e3 - sample.at_s - unix_offset_s) <
              0.1);
        CHECK(scrape.reading->series.at("io_idle_ns") ==
              "kafka_server_kafkarequesthandlerpool_count{name=\"RequestHandlerAvgIdlePercent\"}");
    }
    // Half-way through the scrape, on our clock: a day's difference between the clocks has gone.
    CHECK(std::abs(scrapes.back().reading->sample.at_s + offset_s - (bench.last_s + 0.1)) < 0.1);
    CHECK(scrapes.back().reading->sample.idle_ns == 1e12 + 2.5e9);
    CHECK(bench.source.sampling_interval_s() == doctest::Approx(1));
    CHECK(bench.source.late_by_s() == doctest::Approx(4));
    CHECK(bench.source.broker_ids() == std::vector<int>{7});
    CHECK(bench.source.origin(7) == "Prometheus " + bench.prometheus.url() + " {instance=\"h:7071\"}");
    CHECK(bench.source.origin(8).empty());

    const auto again = bench.source.scrape_all(kPatience);
    REQUIRE(again.size() == 1);
    CHECK(again[0].nothing_new);
    CHECK_FALSE(again[0].reading);

    bench.prometheus.scrape("h:7071", bench.last_s + 0.5, 2e12);
    bench.prometheus.scrape("h:7071", bench.last_s + 0.9, 3e12);
    const auto more = bench.source.scrape_all(kPatience);
    REQUIRE(more.size() == 2);
    CHECK(more[0].reading->sample.idle_ns == 2e12);
    CHECK(more[1].reading->sample.idle_ns == 3e12);
}

TEST_CASE("PrometheusSource: asks for raw samples only, and for types once") {
    Bench bench;
    bench.source.scrape_all(kPatience);
    bench.source.scrape_all(kPatience);
    const auto asked = bench.prometheus.asked();
    CHECK(std::count(asked.begin(), asked.end(), "metadata") == 1);
    for (const auto& query : asked) {
        if (query == "metadata" || query == "time()") continue;
        CHECK(query.starts_with("{instance=\"h:7071\",__name__=~\""));
        CHECK(query.find("}[") != std::string::npos);
        CHECK(query.ends_with("ms]"));
    }
}

TEST_CASE("PrometheusSource: a long silence is a miss that says how old the newest sample is") {
    Bench bench;
    bench.source.scrape_all(kPatience);
    // lag 3 s and two intervals of 1 s: 4 s are fine, 45 s are not. The sample is a second old already.
    FakePrometheus quiet;
    for (int i = 3; i >= 0; --i) quiet.scrape("h:7071", quiet.now_s() - 45 - i, 1e12);
    PrometheusSource source{bench.http, server_at(quiet.url())};
    const auto first = source.scrape_all(kPatience);  // what it has is handed out, dated long ago
    REQUIRE(first.back().reading);
    const auto scrapes = source.scrape_all(kPatience);
    REQUIRE(scrapes.size() == 1);
    CHECK_FALSE(scrapes[0].nothing_new);
    REQUIRE_FALSE(scrapes[0].reading);
    CHECK(has(scrapes[0].reading.error(), "newest sample is 45 s old"));
    CHECK(has(scrapes[0].reading.error(), "5 s): is the target down?"));
}

TEST_CASE("PrometheusSource: a scrape of Prometheus' that failed is a miss at its own time") {
    Bench bench;
    bench.source.scrape_all(kPatience);
    bench.prometheus.failed_scrape("h:7071", bench.last_s + 0.5);
    const auto scrapes = bench.source.scrape_all(kPatience);
    REQUIRE(scrapes.size() == 1);
    REQUIRE_FALSE(scrapes[0].reading);
    CHECK(has(scrapes[0].reading.error(), "up is 0"));
    REQUIRE(scrapes[0].failed_at_s);
    CHECK(std::abs(*scrapes[0].failed_at_s + bench.prometheus.offset_s() - (bench.last_s + 1.0)) < 0.1);
}

TEST_CASE("PrometheusSource: labels that fit nothing, or several targets, are an error that names them") {
    {
        Bench bench;
        auto config = server_at(bench.prometheus.url());
        config.brokers = {{.broker_id = 1, .labels = {{"instance", "nowhere:1"}}},
                          {.broker_id = 2, .labels = {{"job", "kafka"}}},
                          {.broker_id = 3, .labels = {{"instance", "h:7071"}}}};
        bench.prometheus.scrape("other:7071", bench.last_s, 1e12);
        PrometheusSource source{bench.http, config};
        const auto scrapes = source.scrape_all(kPatience);
        REQUIRE(scrapes.size() == 5);  // three of the last one
        REQUIRE_FALSE(scrapes[0].reading);
        CHECK(has(scrapes[0].reading.error(), "{instance=\"nowhere:1\"}: Prometheus has had no sample"));
        CHECK(has(scrapes[0].reading.error(), "correct the labels"));
        REQUIRE_FALSE(scrapes[1].reading);
        CHECK(has(scrapes[1].reading.error(), "fit 2 targets"));
        CHECK(has(scrapes[1].reading.error(), "{instance=\"h:7071\",job=\"kafka\"}"));
        CHECK(has(scrapes[1].reading.error(), "{instance=\"other:7071\",job=\"kafka\"}"));
        CHECK(scrapes[4].reading);
    }
    Bench bench;  // a second target that appears later is seen as well
    bench.source.scrape_all(kPatience);
    const FakePrometheus::Labels other{{"instance", "h:7071"}, {"job", "copy"}};
    bench.prometheus.store("up", other, bench.last_s + 0.5, "1");
    bench.prometheus.scrape("h:7071", bench.last_s + 0.6, 2e12);
    CHECK(has(bench.error(), "fit 2 targets"));
}

TEST_CASE("PrometheusSource: a single scrape does not say yet how often Prometheus scrapes") {
    FakePrometheus prometheus;
    net::HttpClient http;
    prometheus.scrape("h:7071", prometheus.now_s() - 1, 1e12);
    PrometheusSource source{http, server_at(prometheus.url())};
    const auto scrapes = source.scrape_all(kPatience);
    REQUIRE_FALSE(scrapes[0].reading);
    CHECK_FALSE(scrapes[0].nothing_new);
    CHECK(has(scrapes[0].reading.error(), "wait for the next one"));
    prometheus.scrape("h:7071", prometheus.now_s() - 0.5, 1e12);
    CHECK(source.scrape_all(kPatience).back().reading);
}

TEST_CASE("PrometheusSource: NaN is no reading") {
    Bench bench;
    bench.source.scrape_all(kPatience);
    const FakePrometheus::Labels target{{"instance", "h:7071"}, {"job", "kafka"}};
    auto idle = target;
    idle["name"] = "RequestHandlerAvgIdlePercent";
    bench.prometheus.store("up", target, bench.last_s + 0.5, "1");
    bench.prometheus.store("kafka_server_kafkarequesthandlerpool_count", idle, bench.last_s + 0.5, "NaN");
    CHECK(has(bench.error(), "no idle counter"));

    bench.prometheus.scrape("h:7071", bench.last_s + 0.6, 2e12);
    auto shrinks = target;
    shrinks["name"] = "IsrShrinksPerSec";
    bench.prometheus.store("kafka_server_replicamanager_count", shrinks, bench.last_s + 0.6, "NaN");
    const auto scrapes = bench.source.scrape_all(kPatience);
    REQUIRE(scrapes.size() == 1);
    REQUIRE(scrapes[0].reading);
    CHECK_FALSE(scrapes[0].reading->sample.isr_shrinks);
    CHECK(scrapes[0].reading->sample.idle_ns == 2e12);
}

TEST_CASE("PrometheusSource: a target without a broker's series is refused, not empty") {
    Bench bench;
    bench.source.scrape_all(kPatience);
    bench.prometheus.store("up", {{"instance", "h:7071"}, {"job", "kafka"}}, bench.last_s + 0.5, "1");
    CHECK(has(bench.error(), "only up"));
}

TEST_CASE("PrometheusSource: a server that does not know types is read all the same") {
    for (const int status : {404, 500}) {
        Bench bench;
        bench.prometheus.answer_path("/api/v1/metadata", response(status, "text/plain", "no"));
        CHECK(bench.source.scrape_all(kPatience).back().reading);
    }
}

TEST_CASE("PrometheusSource: what goes wrong between brink and Prometheus says what to change") {
    Bench bench;
    bench.source.scrape_all(kPatience);
    SUBCASE("a query that is refused") {
        bench.prometheus.answer_samples(response(
            422, "application/json",
            R"({"status":"error","errorType":"execution","error":"query processing would load too many samples"})"));
        const auto error = bench.error();
        CHECK(error.code == ErrorCode::bad_reply);
        CHECK(has(error, "HTTP 422, execution): query processing would load too many samples"));
    }
    SUBCASE("overloaded") {
        bench.prometheus.answer_samples(
            response(503, "application/json",
                     R"({"status":"error","errorType":"timeout","error":"query timed out"})"));
        CHECK(bench.error().code == ErrorCode::unavailable);
    }
    SUBCASE("a web page") {
        bench.prometheus.answer_samples(response(200, "text/html; charset=utf-8", "<html>Grafana</html>"));
        CHECK(has(bench.error(), "web page and not Prometheus' API"));
    }
    SUBCASE("something else that is JSON") {
        bench.prometheus.answer_samples(response(200, "application/json", R"({"hello":"world"})"));
        CHECK(has(bench.error(), R"(begins with "{"hello":"world"}")"));
    }
    SUBCASE("half an answer") {
        bench.prometheus.answer_samples(
            response(200, "application/json", R"({"status":"success","data":{"resu)"));
        CHECK(has(bench.error(), "not JSON"));
    }
    SUBCASE("samples that cannot be read") {
        for (const char* values :
             {R"([[1,"1\n2"]])", R"([[1e300,"1"]])", R"([[1]])", R"([["1","1"]])", "7"}) {
            bench.prometheus.answer_samples(response(
                200, "application/json",
                std::string(
                    R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":)") +
                    values + "}]}}"));
            CHECK(has(bench.error(), "cannot be read"));
        }
    }
    SUBCASE("an instant vector") {
        bench.prometheus.answer_samples(response(
            200, "application/json", R"({"status":"success","data":{"resultType":"vector","result":[]}})"));
        CHECK(has(bench.error(), "something else than the raw samples"));
    }
    SUBCASE("credentials") {
        bench.prometheus.need_authorization("Bearer s3cret");
        const auto error = bench.error();
        CHECK(error.code == ErrorCode::unauthorised);
        CHECK(has(error, "bearer_token_file"));
        auto config = server_at(bench.prometheus.url());
        config.bearer_token = "s3cret";
        CHECK(PrometheusSource(bench.http, config).scrape_all(kPatience).back().reading);
        config.bearer_token = "hush-hush";
        const auto refused = PrometheusSource(bench.http, config).scrape_all(kPatience);
        REQUIRE_FALSE(refused.back().reading);
        CHECK_FALSE(has(refused.back().reading.error(), "hush-hush"));
        bench.prometheus.need_authorization("Basic YnJpbms6cEBzczp3w7ZyZA==");
        config.bearer_token.clear();
        config.basic_user = "brink";
        config.basic_password = "p@ss:wörd";
        CHECK(PrometheusSource(bench.http, config).scrape_all(kPatience).back().reading);
    }
}

TEST_CASE("PrometheusSource: an address where nothing listens is named") {
    std::string url;
    {
        FakePrometheus gone;
        url = gone.url();
    }
    net::HttpClient http;
    PrometheusSource source{http, server_at(url)};
    const auto scrapes = source.scrape_all(kPatience);
    REQUIRE(scrapes.size() == 1);
    REQUIRE_FALSE(scrapes[0].reading);
    CHECK(scrapes[0].reading.error().code == ErrorCode::unavailable);
    CHECK(has(scrapes[0].reading.error(), "is Prometheus running"));
    CHECK(has(scrapes[0].reading.error(), url));
}

TEST_CASE("PrometheusSource: a clock that is set is one miss, and later samples are dated right again") {
    Bench bench;
    bench.source.scrape_all(kPatience);
    bench.prometheus.scrape("h:7071", bench.last_s + 0.5, 1.5e12);
    bench.prometheus.set_clock_forward(30);
    CHECK(has(bench.error(), "set by +30.0 s"));
    CHECK(bench.source.scrape_all(kPatience).at(0).nothing_new);
    const double offset_s = bench.prometheus.offset_s();
    bench.prometheus.set_clock_forward(0.5);  // as if time had passed
    const double now_s = bench.prometheus.now_s();
    bench.prometheus.scrape("h:7071", now_s, 2e12);
    const auto scrapes = bench.source.scrape_all(kPatience);
    REQUIRE(scrapes.size() == 1);
    REQUIRE(scrapes[0].reading);
    CHECK(std::abs(scrapes[0].reading->sample.at_s + offset_s - (now_s + 0.1)) < 0.1);
}

TEST_CASE("PrometheusSource: a clock that is set back does not hand out old samples again") {
    Bench bench;
    bench.source.scrape_all(kPatience);
    bench.prometheus.set_clock_forward(-1.5);
    CHECK(has(bench.error(), "set by -1.5 s"));
    bench.prometheus.set_clock_forward(0.9);  // as if time had passed: the newest sample is in the past again
    const auto scrapes = bench.source.scrape_all(kPatience);
    REQUIRE(scrapes.size() == 1);
    CHECK(scrapes[0].nothing_new);
}

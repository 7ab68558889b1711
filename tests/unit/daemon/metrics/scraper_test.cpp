#include "daemon/metrics/scraper.hpp"

#include <doctest/doctest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>

#include "agents/net/http_server.hpp"
#include "tests/unit/daemon/metrics/gzip.hpp"

using namespace brink;
using std::chrono::milliseconds;

namespace {

double monotonic_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr milliseconds kPatience{5'000};

const std::string kPage =
    "# TYPE kafka_server_kafkarequesthandlerpool_count untyped\n"
    "kafka_server_kafkarequesthandlerpool_count{name=\"RequestHandlerAvgIdlePercent\"} 5e11\n"
    "kafka_server_replicamanager_count{name=\"IsrShrinksPerSec\"} 16.0\n";

/// Lets the handler of /slow go when the test is done with it.
class Gate {
  public:
    void open() {
        const std::lock_guard lock{mutex_};
        open_ = true;
        opened_.notify_all();
    }
    void wait() {
        std::unique_lock lock{mutex_};
        opened_.wait_for(lock, std::chrono::seconds{20}, [&] { return open_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool open_ = false;
};

/// An exporter that misbehaves by path.
struct Exporter {
    Gate gate;
    std::unique_ptr<net::HttpServer> server;

    Exporter() {
        auto listening = net::HttpServer::listen(
            "127.0.0.1:0", [this](const net::HttpRequest& request) { return answer(request); });
        REQUIRE(listening);
        server = std::move(*listening);
    }
    ~Exporter() { gate.open(); }
    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;

    net::HttpResponse answer(const net::HttpRequest& request) {
        net::HttpResponse response{200, "text/plain; version=0.0.4; charset=utf-8", kPage, {}, {}};
        if (request.path == "/html")
            return {200, "Text/HTML; charset=utf-8", "metrics are elsewhere", {}, {}};
        if (request.path == "/untyped-html") response.body = "<html><body>/metrics</body></html>";
        if (request.path == "/rates") {
            response.body = "kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent 0.8\n";
        }
        if (request.path == "/500") response = {500, "text/plain", "IllegalStateException\n" + kPage, {}, {}};
        if (request.path == "/404") response.status = 404;
        if (request.path == "/302") response.status = 302;
        if (request.path == "/slow") gate.wait();
        if (request.path == "/gzip") response.body = test::gzip(kPage);
        if (request.path == "/bomb") response.body = test::gzip(std::string(70'000'000, '#'));
        if (request.path == "/cut") response.body = test::gzip(kPage).substr(0, 60);
        if (request.path == "/gzip" || request.path == "/bomb" || request.path == "/cut") {
            response.headers.emplace_back("Content-Encoding", "gzip");
        }
        if (request.path == "/brotli") response.headers.emplace_back("Content-Encoding", "br");
        if (request.path == "/compresses-like-jmx-exporter" && compresses(request)) response.status = 500;
        const auto needed = request.path == "/basic"    ? "Basic YnJpbms6cEBzczp3w7ZyZA=="
                            : request.path == "/bearer" ? "Bearer secret"
                                                        : "";
        if (*needed != '\0' && request.header("Authorization") != needed) response.status = 401;
        if (request.path == "/accepts" &&
            request.header("Accept").value_or("").find("openmetrics") != std::string::npos) {
            response.status = 406;
        }
        return response;
    }

    /// What jmx_exporter 0.x and 1.x do: an entry of the list that is exactly "gzip", in whichever order.
    static bool compresses(const net::HttpRequest& request) {
        std::istringstream entries{request.header("Accept-Encoding").value_or("")};
        for (std::string entry; std::getline(entries, entry, ',');) {
            entry.erase(0, entry.find_first_not_of(' '));
            if (entry == "gzip") return true;
        }
        return false;
    }

    [[nodiscard]] std::string url(const std::string& path) const {
        return "http://" + server->address() + path;
    }
};

MetricsEndpoint endpoint(int id, std::string url) {
    MetricsEndpoint at;
    at.broker_id = id;
    at.url = std::move(url);
    return at;
}

/// The one error of scraping one address.
Error error_at(const std::string& url, milliseconds deadline = kPatience) {
    net::HttpClient http;
    Scraper scraper{http, {endpoint(7, url)}};
    const auto scrapes = scraper.scrape_all(deadline);
    REQUIRE(scrapes.size() == 1);
    CHECK(scrapes[0].broker_id == 7);
    REQUIRE(!scrapes[0].reading);
    CHECK(scrapes[0].reading.error().message.find("metrics of broker 7 at http://127.0.0.1:") == 0);
    return scrapes[0].reading.error();
}

bool has(const Error& error, const std::string& part) {
    return error.message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("Scraper: reads all brokers in order and times each scrape by itself") {
    Exporter exporter;
    net::HttpClient http;
    Scraper scraper{http, {endpoint(3, exporter.url("/metrics")), endpoint(1, exporter.url("/accepts"))}};
    const double before = monotonic_s();
    const auto unix_before =
        std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    const auto scrapes = scraper.scrape_all(kPatience);
    const double after = monotonic_s();
    REQUIRE(scrapes.size() == 2);
    CHECK(scrapes[0].broker_id == 3);
    CHECK(scrapes[1].broker_id == 1);
    for (const auto& scrape : scrapes) {
        REQUIRE(scrape.reading);
        const auto& reading = *scrape.reading;
        CHECK(reading.sample.idle_ns == 5e11);
        CHECK(reading.sample.isr_shrinks == 16);
        CHECK(reading.sample.at_s >= before);
        CHECK(reading.sample.at_s <= after);
        CHECK(reading.scrape_ms > 0);
        CHECK(reading.scrape_ms <= (after - before) * 1000);
        CHECK(reading.at_unix_ms >= unix_before - 1000);
        CHECK(reading.at_unix_ms <= unix_before + 6000);
    }
}

TEST_CASE("Scraper: a page that comes compressed is inflated, within its limit, and not asked for") {
    Exporter exporter;
    net::HttpClient http;
    Scraper scraper{
        http,
        {endpoint(1, exporter.url("/gzip")), endpoint(2, exporter.url("/compresses-like-jmx-exporter"))}};
    const auto scrapes = scraper.scrape_all(kPatience);
    for (const auto& scrape : scrapes) {
        REQUIRE(scrape.reading);
        CHECK(scrape.reading->sample.idle_ns == 5e11);
    }
    const auto bomb = error_at(exporter.url("/bomb"));
    CHECK(bomb.code == ErrorCode::bad_reply);
    CHECK(has(bomb, "67108864 bytes once inflated"));
    CHECK(has(error_at(exporter.url("/cut")), "cut short"));
    const auto brotli = error_at(exporter.url("/brotli"));
    CHECK(brotli.code == ErrorCode::bad_reply);
    CHECK(has(brotli, "Content-Encoding 'br'"));
    CHECK(has(brotli, "proxy"));
}

TEST_CASE("Scraper: sends credentials, and says so where they are missing") {
    Exporter exporter;
    net::HttpClient http;
    auto basic = endpoint(1, exporter.url("/basic"));
    basic.basic_user = "brink";
    basic.basic_password = "p@ss:wörd";
    auto bearer = endpoint(2, exporter.url("/bearer"));
    bearer.bearer_token = "secret";
    auto wrong = endpoint(3, exporter.url("/bearer"));
    wrong.bearer_token = "hush-hush";
    Scraper scraper{http, {basic, bearer, wrong, endpoint(4, exporter.url("/basic"))}};
    const auto scrapes = scraper.scrape_all(kPatience);
    CHECK(scrapes[0].reading);
    CHECK(scrapes[1].reading);
    for (const std::size_t refused : {2U, 3U}) {
        REQUIRE(!scrapes[refused].reading);
        const auto& error = scrapes[refused].reading.error();
        CHECK(error.code == ErrorCode::unauthorised);
        CHECK(has(error, "401"));
        CHECK(has(error, "credentials"));
        CHECK(!has(error, "hush-hush"));
    }
}

TEST_CASE("Scraper: a page that is no metrics is no sample, whatever its status says") {
    Exporter exporter;
    CHECK(has(error_at(exporter.url("/html")), "web page and not metrics"));
    CHECK(has(error_at(exporter.url("/untyped-html")), "HTML"));
    CHECK(has(error_at(exporter.url("/rates")), "no idle counter"));
    const auto failed = error_at(exporter.url("/500"));  // its body looks like metrics
    CHECK(failed.code == ErrorCode::unavailable);
    CHECK(has(failed, "500"));
    CHECK(has(error_at(exporter.url("/404")), "/metrics"));
    CHECK(has(error_at(exporter.url("/302")), "redirects"));
}

TEST_CASE("Scraper: a refused connection names the address and asks for the exporter") {
    std::string url;
    {
        Exporter exporter;
        url = exporter.url("/metrics");
    }
    const auto error = error_at(url);
    CHECK(error.code == ErrorCode::unavailable);
    CHECK(has(error, "is the exporter running"));
}

TEST_CASE("Scraper: one slow broker ends at the shared deadline and does not hold up the others") {
    Exporter exporter;
    net::HttpClient http;
    Scraper scraper{http, {endpoint(1, exporter.url("/slow")), endpoint(2, exporter.url("/metrics"))}};
    const double before = monotonic_s();
    const auto scrapes = scraper.scrape_all(milliseconds{300});
    CHECK(monotonic_s() - before < 3);
    REQUIRE(!scrapes[0].reading);
    CHECK(scrapes[0].reading.error().code == ErrorCode::timed_out);
    CHECK(has(scrapes[0].reading.error(), "deadline 300 ms"));
    CHECK(scrapes[1].reading);
}

TEST_CASE("Scraper: errors do not repeat what an address hides") {
    const auto error = error_at("http://127.0.0.1:1/metrics?token=hush-hush");
    CHECK(!has(error, "hush-hush"));
}

#include "agents/net/http_server.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <atomic>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "agents/net/router.hpp"
#include "tests/unit/agents/net/server_calls.hpp"

using namespace brink;
using namespace brink::net;
using namespace brink::test;
using namespace std::chrono_literals;

namespace {

/// Lets handlers wait until the test says so.
struct Gate {
    std::promise<void> entered{};
    std::promise<void> open{};
    std::shared_future<void> opened{open.get_future()};
    std::atomic<int> count{0};
    HttpResponse operator()(const HttpRequest& request) {
        if (count++ == 0) entered.set_value();
        opened.wait();
        return echo(request);
    }
};

}  // namespace

TEST_CASE("HttpServer: answers with its standing headers and decodes the target") {
    const auto server = serve();
    CHECK(server->port() != 0);
    CHECK(server->address() == "127.0.0.1:" + std::to_string(server->port()));
    const auto response = ask(*server, get_and_close("/a%20b/c?x=1&y=%41+z&x=2"));
    CHECK(status_of(response) == 200);
    CHECK(has(response, "\r\nContent-Type: application/json\r\n"));
    CHECK(has(response, "\r\nCache-Control: no-store\r\n"));
    CHECK(has(response, "\r\nX-Content-Type-Options: nosniff\r\n"));
    CHECK(has(response, "\r\nConnection: close\r\n"));
    CHECK(has(response, "\r\nDate: "));
    CHECK_FALSE(has(response, "Server:"));
    const auto json = nlohmann::json::parse(body_of(response));
    CHECK(json.at("path") == "/a b/c");
    CHECK(json.at("query").dump() == R"([["x","1"],["y","A z"],["x","2"]])");
    CHECK(json.at("remote") == "127.0.0.1");
    CHECK(has(response, "\r\nX-Request-Id: " + json.at("id").get<std::string>() + "\r\n"));
}

TEST_CASE("HttpServer: a connection is kept for further requests, pipelined too") {
    const auto server = serve();
    const auto connection = RawConnection::to(server->port());
    for (int i = 0; i < 3; ++i) {
        connection.send("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
        const auto response = connection.receive_response();
        CHECK(status_of(response) == 200);
        CHECK_FALSE(has(response, "Connection:"));
    }
    connection.send(plain_get("/one") + plain_get("/two") + get_and_close("/three"));
    const auto all = connection.receive_all();
    const auto one = all.find("/one");
    const auto two = all.find("/two");
    const auto three = all.find("/three");
    REQUIRE(three != std::string::npos);
    CHECK(one < two);
    CHECK(two < three);
}

TEST_CASE("HttpServer: HEAD has the length of GET and no body") {
    Router router;
    router.add("GET", "/x", [](const HttpRequest&) {
        HttpResponse response;
        response.body = "0123456789";
        return response;
    });
    for (const Handler& handler : {Handler(echo), Handler(router)}) {
        const auto server = serve(handler);
        const auto connection = RawConnection::to(server->port());
        connection.send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n");
        const auto head = connection.receive_response(true);
        CHECK(status_of(head) == 200);
        CHECK(has(head, "\r\nContent-Length: "));
        CHECK_FALSE(has(head, "\r\nContent-Length: 0\r\n"));
        CHECK(body_of(head).empty());
        connection.send(plain_get("/x"));
        const auto answer = connection.receive_response();
        CHECK_MESSAGE(status_of(answer) == 200, "a body after HEAD would be taken for this answer");
    }
}

TEST_CASE("HttpServer: what a handler throws is a 500 with the id and without the reason") {
    const auto server = serve([](const HttpRequest& request) -> HttpResponse {
        if (request.path == "/odd") throw 7;  // NOLINT: also what is no std::exception
        throw std::runtime_error("secret reason");
    });
    const auto connection = RawConnection::to(server->port());
    for (const std::string path : {"/", "/odd"}) {
        connection.send(plain_get(path));
        const auto response = connection.receive_response();
        CHECK(status_of(response) == 500);
        CHECK_FALSE(has(response, "secret"));
        const auto json = nlohmann::json::parse(body_of(response));
        CHECK(has(response, "\r\nX-Request-Id: " + json.at("request_id").get<std::string>() + "\r\n"));
    }
}

TEST_CASE("HttpServer: a response that would split or confuse is never sent") {
    HttpResponse bad;
    std::string expected = "500";
    SUBCASE("value with CR LF") { bad.headers.emplace_back("X-A", "1\r\nSet-Cookie: x"); }
    SUBCASE("name with CR LF") { bad.headers.emplace_back("X-A: 1\r\nX-B", "2"); }
    SUBCASE("content type with LF") { bad.content_type = "text/plain\nX: y"; }
    SUBCASE("status 99") { bad.status = 99; }
    const auto server = serve([&](const HttpRequest&) { return bad; });
    const auto response = ask(*server, get_and_close("/"));
    CHECK(status_of(response) == 500);
    CHECK_FALSE(has(response, "Set-Cookie"));
    CHECK_FALSE(has(response, "X-A"));
}

TEST_CASE("HttpServer: framing of its own comes before a handler's headers") {
    const auto server = serve([](const HttpRequest& request) {
        HttpResponse response;
        response.status = request.path == "/none" ? 204 : 200;
        response.body = request.path == "/none" ? "" : "abc";
        response.headers = {{"Content-Length", "77"},
                            {"Transfer-Encoding", "chunked"},
                            {"Cache-Control", "max-age=5"},
                            {"Connection", "close"}};
        return response;
    });
    const auto response = ask(*server, plain_get("/"));
    CHECK(has(response, "\r\nContent-Length: 3\r\n"));
    CHECK_FALSE(has(response, "Length: 77"));
    CHECK_FALSE(has(response, "chunked"));
    CHECK(has(response, "\r\nCache-Control: max-age=5\r\n"));
    CHECK_FALSE(has(response, "no-store"));
    const auto none = ask(*server, plain_get("/none"));
    CHECK(status_of(none) == 204);
    CHECK_FALSE(has(none, "Content-Length"));
}

TEST_CASE("HttpServer: a file is streamed and removed, also when the client leaves") {
    const auto folder =
        std::filesystem::temp_directory_path() / ("brink-net-test-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    const auto path = folder / "backup";
    constexpr std::size_t kBytes = 5'000'000;
    const auto server = serve([&](const HttpRequest& request) {
        HttpResponse response;
        response.content_type = "application/octet-stream";
        if (request.path != "/missing") {
            std::ofstream file(path, std::ios::binary);
            file << std::string(kBytes - 3, 'f') << "end";
        }
        response.file = path;
        if (request.path == "/bad") response.headers.emplace_back("X", "\n");
        return response;
    });
    const auto whole = ask(*server, get_and_close("/"));
    CHECK(has(whole, "\r\nContent-Length: 5000000\r\n"));
    CHECK(body_of(whole).size() == kBytes);
    CHECK(whole.ends_with("ffend"));
    CHECK_FALSE(std::filesystem::exists(path));

    const auto head = ask(*server, "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    CHECK(has(head, "\r\nContent-Length: 5000000\r\n"));
    CHECK(body_of(head).empty());
    CHECK_FALSE(std::filesystem::exists(path));
    {
        const auto leaving = RawConnection::to(server->port());
        leaving.send(plain_get("/"));
        CHECK_FALSE(leaving.receive().empty());
    }
    CHECK(status_of(ask(*server, get_and_close("/missing"))) == 500);
    CHECK(status_of(ask(*server, get_and_close("/bad"))) == 500);
    server->stop(0ms);
    CHECK(std::filesystem::is_empty(folder));
    std::filesystem::remove_all(folder);
}

TEST_CASE("HttpServer: a large body reaches a slow reader whole") {
    const std::string body(3'000'000, 'b');
    const auto server = serve([&](const HttpRequest&) {
        HttpResponse response;
        response.body = body;
        return response;
    });
    CHECK(body_of(ask(*server, get_and_close("/"))) == body);
}

TEST_CASE("HttpServer: connections beyond the limit get 503") {
    ServerLimits limits;
    limits.connections = 2;
    const auto server = serve(echo, limits);
    const auto first = RawConnection::to(server->port());
    first.send(plain_get("/"));
    CHECK(status_of(first.receive_response()) == 200);
    {
        const auto second = RawConnection::to(server->port());
        second.send(plain_get("/"));
        CHECK(status_of(second.receive_response()) == 200);
        const auto third = RawConnection::to(server->port());
        CHECK(status_of(third.receive_all()) == 503);
    }
    first.send(plain_get("/"));
    CHECK(status_of(first.receive_response()) == 200);
    // The second has closed: there is room again, as soon as the server has seen it.
    int status = 503;
    for (int i = 0; i < 500 && status == 503; ++i) status = status_of(ask(*server, get_and_close("/")));
    CHECK(status == 200);
}

TEST_CASE("HttpServer: a full queue of requests is 503, and the connection lives on") {
    Gate gate;
    ServerLimits limits;
    limits.handler_threads = 1;
    limits.queued_requests = 1;
    const auto server = serve(std::ref(gate), limits);
    const auto running = RawConnection::to(server->port());
    running.send(plain_get("/running"));
    gate.entered.get_future().wait();
    // Of two more, one waits in the queue and the other is refused, whichever came first.
    const auto one = RawConnection::to(server->port());
    const auto two = RawConnection::to(server->port());
    one.send(plain_get("/one"));
    two.send(plain_get("/two"));
    std::string refused = one.receive(200ms);
    const bool first_refused = !refused.empty();
    if (!first_refused) refused = two.receive_response();
    CHECK(status_of(refused) == 503);
    CHECK(has(refused, "\r\nRetry-After: 1\r\n"));
    gate.open.set_value();
    CHECK(status_of(running.receive_response()) == 200);
    CHECK(status_of((first_refused ? two : one).receive_response()) == 200);
    (first_refused ? one : two).send(plain_get("/again"));
    CHECK(status_of((first_refused ? one : two).receive_response()) == 200);
}

TEST_CASE("HttpServer: stop lets the handler under way answer and refuses what waits") {
    Gate gate;
    ServerLimits limits;
    limits.handler_threads = 1;
    const auto server = serve(std::ref(gate), limits);
    const auto idle = RawConnection::to(server->port());
    const auto running = RawConnection::to(server->port());
    running.send(plain_get("/running"));
    gate.entered.get_future().wait();
    const auto queued = RawConnection::to(server->port());
    queued.send(plain_get("/queued"));
    // A served connection behind it in the reactor's queue shows that the request above was read: none can be
    // served here, so the refusal of a bad one must do.
    CHECK(status_of(ask(*server, "GET / HTTP/1.1\r\n\r\n")) == 400);
    std::thread stopper([&] { server->stop(5s); });
    CHECK(idle.receive().empty());
    CHECK(status_of(queued.receive_response()) == 503);
    gate.open.set_value();
    const auto answer = running.receive_all();
    CHECK(status_of(answer) == 200);
    CHECK(has(answer, "\r\nConnection: close\r\n"));
    stopper.join();
    server->stop();
    CHECK(gate.count == 1);
    CHECK_THROWS(RawConnection::to(server->port()));
}

TEST_CASE("HttpServer: stop does not wait for a handler beyond the grace") {
    Gate gate;
    auto server = serve(std::ref(gate));
    const auto running = RawConnection::to(server->port());
    running.send(plain_get("/"));
    gate.entered.get_future().wait();
    const auto begin = test::Clock::now();
    server->stop(50ms);
    CHECK(test::since(begin) >= 45ms);
    CHECK(test::since(begin) < 2s);
    CHECK(running.receive().empty());
    gate.open.set_value();
    server.reset();
}

TEST_CASE("HttpServer: a bad address or one in use is a configuration error that says what to do") {
    const auto server = serve();
    const auto taken = HttpServer::listen(server->address(), echo);
    REQUIRE_FALSE(taken.has_value());
    CHECK(taken.error().code == ErrorCode::configuration);
    CHECK(has(taken.error().message, server->address()));
    CHECK(has(taken.error().message, "address in use"));
    for (const std::string address :
         {"", "8080", "localhost:8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:-1",
          "127.0.0.1:80x", "::1:80", "[127.0.0.1]:80", "192.0.2.1:0"}) {
        CAPTURE(address);
        const auto refused = HttpServer::listen(address, echo);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().code == ErrorCode::configuration);
        CHECK(has(refused.error().message, address));
    }
}

TEST_CASE("HttpServer: accepting rests while descriptors are out, and goes on afterwards") {
    const auto server = serve();
    const auto warm = RawConnection::to(server->port());
    warm.send(plain_get("/"));
    CHECK(status_of(warm.receive_response()) == 200);
    const auto waiting = RawConnection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    const int lowest_free = ::dup(0);
    ::close(lowest_free);
    rlimit none = before;
    none.rlim_cur = static_cast<rlim_t>(lowest_free);
    ::setrlimit(RLIMIT_NOFILE, &none);
    waiting.connect(server->port());
    waiting.send(plain_get("/"));
    const std::clock_t cpu = std::clock();
    const std::string early = waiting.receive(300ms);
    const double used = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    ::setrlimit(RLIMIT_NOFILE, &before);
    CHECK(early.empty());
    CHECK_MESSAGE(used < 0.15, "a loop without a rest would have used about 0.3 s");
    CHECK(status_of(waiting.receive_response()) == 200);
}

#include "agents/net/http_client.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <atomic>
#include <future>
#include <memory>

#include "agents/net/http_server.hpp"
#include "tests/unit/agents/net/loopback.hpp"

using namespace brink;
using namespace brink::net;
using brink::test::RawConnection;
using brink::test::ScriptedServer;
using namespace std::chrono_literals;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

ClientRequest get_from(const std::string& url) {
    ClientRequest request;
    request.url = url;
    return request;
}

std::string ok(const std::string& body) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// Answers the first request of each connection with these bytes and closes.
ScriptedServer::Script answers(const std::string& bytes) {
    return [bytes](const RawConnection& connection, int) {
        connection.read_request();
        connection.send(bytes);
    };
}

/// Keeps the connection open without a word until the client closes it.
void hang(const RawConnection& connection) {
    while (!connection.receive(10s).empty()) {
    }
}

ErrorCode code_of(const ClientResult& result) {
    REQUIRE_FALSE(result.has_value());
    return result.error().code;
}

std::unique_ptr<HttpServer> serve(Handler handler) {
    auto server = HttpServer::listen("127.0.0.1:0", std::move(handler));
    REQUIRE(server.has_value());
    return std::move(*server);
}

}  // namespace

TEST_CASE("HttpClient: sends method, target, headers and body, and times the answer") {
    HttpRequest seen;
    const auto server = serve([&](const HttpRequest& request) {
        seen = request;
        HttpResponse response;
        response.status = 409;
        response.content_type = "Text/Plain; charset=utf-8";
        response.body = "taken";
        return response;
    });
    HttpClient client;
    ClientRequest request;
    request.method = "PUT";
    request.url = "http://" + server->address() + "/v1/a%20b?x=1#fragment";
    request.headers.emplace_back("Authorization", "Bearer t");
    request.body = "{}";
    const auto before = std::chrono::steady_clock::now();
    const auto result = client.call(request, 5s);
    REQUIRE(result.has_value());
    CHECK_MESSAGE(result->status == 409, "a status is no error");
    CHECK(result->body == "taken");
    CHECK(result->content_type() == "text/plain");
    CHECK(result->sent >= before);
    CHECK(result->received > result->sent);
    CHECK(result->received <= std::chrono::steady_clock::now());
    CHECK(seen.method == "PUT");
    CHECK(seen.path == "/v1/a b");
    CHECK(seen.query_value("x") == "1");
    CHECK(seen.header("HOST") == server->address());
    CHECK(seen.header("authorization") == "Bearer t");
    CHECK(seen.header("content-type") == "application/json");
    CHECK(seen.body == "{}");
    CHECK_FALSE(seen.header("accept-encoding").has_value());
}

TEST_CASE("HttpClient: refuses what it cannot or must not call") {
    HttpClient client;
    const auto message = [&](const ClientRequest& request) {
        const auto result = client.call(request, 1s);
        CHECK(code_of(result) == ErrorCode::invalid_input);
        return result.error().message;
    };
    CHECK(has(message(get_from("https://127.0.0.1/")), "https is not supported yet by this build"));
    CHECK(has(message(get_from("http://user:pass@127.0.0.1/")), "Authorization"));
    CHECK_FALSE(has(message(get_from("http://user:pass@127.0.0.1/")), "pass@"));
    for (const std::string url :
         {"", "127.0.0.1", "/path", "ftp://127.0.0.1/", "http://", "http:///x", "http://127.0.0.1:0/",
          "http://127.0.0.1:99999/", "http://127.0.0.1:x/", "http://[::1/", "http://a b/",
          "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y"}) {
        CAPTURE(url);
        CHECK_FALSE(message(get_from(url)).empty());
    }
    ClientRequest request = get_from("http://127.0.0.1:1/");
    request.method = "GET / HTTP/1.1\r\nX:";
    message(request);
    request.method = "GET";
    for (const auto& header :
         Headers{{"X-A", "1\r\nX-B: 2"}, {"X A", "1"}, {"Host", "other"}, {"content-length", "1"}}) {
        request.headers = {header};
        message(request);
    }
}

TEST_CASE("HttpClient: speaks to IPv6 literals and to names") {
    auto six = HttpServer::listen("[::1]:0", [](const HttpRequest& request) {
        HttpResponse response;
        response.body = request.header("host").value_or("") + " " + request.remote_address;
        return response;
    });
    HttpClient client;
    if (six) {
        const auto result = client.call(get_from("http://" + (*six)->address() + "/"), 5s);
        REQUIRE(result.has_value());
        CHECK(result->body == (*six)->address() + " ::1");
    } else {
        MESSAGE("no IPv6 loopback on this host: " << six.error().message);
    }
    // "localhost" may mean [::1] first, where nobody listens: the next address is tried.
    const auto four = serve([](const HttpRequest&) { return HttpResponse{}; });
    const auto result = client.call(get_from("http://LocalHost:" + std::to_string(four->port())), 5s);
    REQUIRE(result.has_value());
    CHECK(result->status == 200);
}

TEST_CASE("HttpClient: understands length, chunks, interim responses, empty bodies and HEAD") {
    const auto body_of = [](const std::string& bytes, const std::string& method = "GET") {
        const ScriptedServer server(answers(bytes));
        HttpClient client;
        ClientRequest request = get_from(server.url());
        request.method = method;
        const auto result = client.call(request, 5s);
        REQUIRE(result.has_value());
        return std::to_string(result->status) + " " + result->body;
    };
    CHECK(body_of(ok("abc")) == "200 abc");
    CHECK(body_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;e\r\nabc\r\n1\r\nd\r\n0\r\nX: "
                  "y\r\n\r\n") == "200 abcd");
    CHECK(body_of("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + ok("abc")) ==
          "200 abc");
    CHECK(body_of("HTTP/1.1 204 No Content\r\n\r\n") == "204 ");
    CHECK(body_of("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab") == "200 ab");
    CHECK(body_of("HTTP/1.1 200 OK\r\nContent-Length: 5000000000\r\n\r\n", "HEAD") == "200 ");
    CHECK_MESSAGE(
        body_of("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n") == "302 ",
        "redirects are not followed");
}

TEST_CASE("HttpClient: a reply that cannot be trusted is a bad reply") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"close-delimited", "HTTP/1.1 200 OK\r\n\r\nmetrics 1\n"},
        {"close-delimited HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nmetrics 1\n"},
        {"truncated length", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"},
        {"truncated chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc"},
        {"chunks without an end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"},
        {"truncated head", "HTTP/1.1 200 OK\r\nContent-Le"},
        {"TE: gzip", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc"},
        {"TE and CL", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"},
        {"HTTP/1.0 chunked", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        {"two CL", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc"},
        {"gzip unasked", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"},
        {"switching protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"},
        {"endless interim",
         [] {
             std::string many;
             for (int i = 0; i < 20; ++i) many += "HTTP/1.1 100 Continue\r\n\r\n";
             return many;
         }()},
        {"not HTTP", "220 mail.example ESMTP\r\n"},
        {"endless head", "HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x')},
    };
    for (const auto& [name, bytes] : cases) {
        CAPTURE(name);
        const ScriptedServer server(answers(bytes));
        HttpClient client;
        const auto result = client.call(get_from(server.url()), 5s);
        CHECK(code_of(result) == ErrorCode::bad_reply);
        CHECK(has(result.error().message, "127.0.0.1:" + std::to_string(server.port())));
        CHECK_FALSE(has(result.error().message, "metrics 1"));
    }
}

TEST_CASE("HttpClient: an encoded body comes as it was sent where encodings are accepted") {
    std::string accepted;
    const auto server = serve([&](const HttpRequest& request) {
        accepted = request.header("accept-encoding").value_or("");
        HttpResponse response{200, "text/plain", "not gzip, but who looks", {}, {}};
        if (request.path == "/twice") response.headers.emplace_back("Content-Encoding", "deflate");
        response.headers.emplace_back("Content-Encoding", request.path == "/plain" ? "identity" : "GZip");
        return response;
    });
    HttpClient client;
    const auto encoding_of = [&](const std::string& path) {
        auto request = get_from("http://" + server->address() + path);
        request.accept_encoding = "identity, gzip;q=0.1";
        const auto result = client.call(request, 5s);
        REQUIRE(result.has_value());
        CHECK(accepted == "identity, gzip;q=0.1");
        CHECK(result->body == "not gzip, but who looks");
        return result->content_encoding();
    };
    CHECK(encoding_of("/") == "gzip");
    CHECK(encoding_of("/plain").empty());
    CHECK(encoding_of("/twice") == "deflate, gzip");

    auto request = get_from("http://" + server->address());
    request.accept_encoding = "gzip\r\nX: y";
    CHECK(code_of(client.call(request, 5s)) == ErrorCode::invalid_input);
}

TEST_CASE("HttpClient: a body beyond its limit is a bad reply, declared or chunked") {
    const std::string chunk = "400\r\n" + std::string(1'024, 'x') + "\r\n";
    for (const std::string& bytes :
         {ok(std::string(1'025, 'x')),
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + chunk}) {
        const ScriptedServer server(answers(bytes));
        HttpClient client;
        ClientRequest request = get_from(server.url());
        request.max_body_bytes = 1'024;
        const auto result = client.call(request, 5s);
        CHECK(code_of(result) == ErrorCode::bad_reply);
        CHECK(has(result.error().message, "1024"));
    }
    const ScriptedServer server(answers(ok(std::string(1'024, 'x'))));
    HttpClient client;
    ClientRequest request = get_from(server.url());
    request.max_body_bytes = 1'024;
    CHECK(client.call(request, 5s).has_value());
}

TEST_CASE("HttpClient: refused, reset and silent closes are unavailable") {
    HttpClient client;
    std::uint16_t closed_port = 0;
    {
        const ScriptedServer gone(answers(""));
        closed_port = gone.port();
    }
    const auto refused = client.call(get_from("http://127.0.0.1:" + std::to_string(closed_port) + "/"), 5s);
    CHECK(code_of(refused) == ErrorCode::unavailable);
    CHECK(has(refused.error().message, "refused"));

    const ScriptedServer silent(answers(""));
    CHECK(code_of(client.call(get_from(silent.url()), 5s)) == ErrorCode::unavailable);
    const ScriptedServer resetting([](const RawConnection& connection, int) {
        connection.read_request();
        connection.reset_on_close();
    });
    CHECK(code_of(client.call(get_from(resetting.url()), 5s)) == ErrorCode::unavailable);
    CHECK(code_of(client.call(get_from("http://no-such-host.invalid/"), 5s)) == ErrorCode::unavailable);
    CHECK_MESSAGE(resetting.connections() == 1, "a call that failed on a fresh connection is not repeated");
}

TEST_CASE("HttpClient: the deadline holds against hanging, dripping and stalling peers") {
    ScriptedServer::Script script;
    SUBCASE("never answers") {
        script = [](const RawConnection& connection, int) { hang(connection); };
    }
    SUBCASE("drips its head") {
        script = [](const RawConnection& connection, int) {
            connection.read_request();
            connection.send("HTTP/1.1 200 OK\r\nX: ");
            while (connection.send("x")) connection.receive(10ms);
        };
    }
    SUBCASE("drips its body") {
        script = [](const RawConnection& connection, int) {
            connection.read_request();
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
            while (connection.send("x")) connection.receive(10ms);
        };
    }
    SUBCASE("sends a length without a body") {
        script = [](const RawConnection& connection, int) {
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
            hang(connection);
        };
    }
    const ScriptedServer server(script);
    HttpClient client;
    const auto begin = test::Clock::now();
    CHECK(code_of(client.call(get_from(server.url()), 150ms)) == ErrorCode::timed_out);
    CHECK(test::since(begin) >= 145ms);
    CHECK(test::since(begin) < 1s);
}

TEST_CASE("HttpClient: a request that the peer does not read meets the deadline") {
    const ScriptedServer server([](const RawConnection& connection, int) {
        // Reads nothing until the client has gone: then its bytes end.
        connection.receive(1ms);
        std::this_thread::sleep_for(400ms);
    });
    HttpClient client;
    ClientRequest request = get_from(server.url());
    request.method = "PUT";
    request.body = std::string(32 * 1024 * 1024, 'x');
    const auto begin = test::Clock::now();
    CHECK(code_of(client.call(request, 150ms)) == ErrorCode::timed_out);
    CHECK(test::since(begin) < 1s);
    CHECK(code_of(client.call(request, 0ms)) == ErrorCode::timed_out);
    CHECK(code_of(client.call(request, -5ms)) == ErrorCode::timed_out);
}

TEST_CASE("HttpClient: a connection is kept and used again") {
    const ScriptedServer server([](const RawConnection& connection, int) {
        while (!connection.read_request().empty()) connection.send(ok("abc"));
    });
    HttpClient client;
    for (int i = 0; i < 5; ++i) CHECK(client.call(get_from(server.url()), 5s).has_value());
    CHECK(server.connections() == 1);
}

TEST_CASE(
    "HttpClient: a connection is not used again when the peer says close or sends more than it should") {
    for (const std::string extra : {"close", "surplus"}) {
        CAPTURE(extra);
        const bool close = extra == "close";
        const std::string bytes = close ? "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
                                        : ok("abc") + "HTTP/1.1 200 OK\r\n";
        const ScriptedServer server([&](const RawConnection& connection, int) {
            connection.read_request();
            connection.send(bytes);
            hang(connection);
        });
        HttpClient client;
        CHECK(client.call(get_from(server.url()), 5s).has_value());
        CHECK(client.call(get_from(server.url()), 5s).has_value());
        CHECK(server.connections() == 2);
    }
}

TEST_CASE("HttpClient: no more connections are kept than asked for") {
    HttpClient client(0);
    const ScriptedServer counting([](const RawConnection& connection, int) {
        while (!connection.read_request().empty()) connection.send(ok(""));
    });
    CHECK(client.call(get_from(counting.url()), 5s).has_value());
    CHECK(client.call(get_from(counting.url()), 5s).has_value());
    CHECK(counting.connections() == 2);
}

TEST_CASE("HttpClient: an idempotent call is repeated once when a kept connection turns out dead") {
    // The first connection answers once, and closes on the second request: too late for the client to know.
    const ScriptedServer server([](const RawConnection& connection, int number) {
        connection.read_request();
        connection.send(ok("abc"));
        const std::string second = connection.read_request();
        if (number > 0 && !second.empty()) connection.send(ok("again"));
    });
    HttpClient client;
    CHECK(client.call(get_from(server.url()), 5s).has_value());
    ClientRequest request = get_from(server.url());
    SUBCASE("idempotent") {
        const auto result = client.call(request, 5s);
        REQUIRE(result.has_value());
        CHECK(result->body == "abc");
        CHECK(server.connections() == 2);
    }
    SUBCASE("not idempotent") {
        request.method = "POST";
        request.idempotent = false;
        CHECK(code_of(client.call(request, 5s)) == ErrorCode::unavailable);
        CHECK(server.connections() == 1);
    }
}

TEST_CASE("HttpClient: a call is not repeated once a byte of the answer has come") {
    const ScriptedServer server([](const RawConnection& connection, int) {
        connection.read_request();
        connection.send(ok("abc"));
        if (!connection.read_request().empty()) connection.send("H");
    });
    HttpClient client;
    CHECK(client.call(get_from(server.url()), 5s).has_value());
    CHECK(code_of(client.call(get_from(server.url()), 5s)) == ErrorCode::bad_reply);
    CHECK(server.connections() == 1);
}

TEST_CASE("HttpClient: a kept connection that has been closed is not even tried") {
    const ScriptedServer server(answers(ok("abc")));
    HttpClient client;
    ClientRequest request = get_from(server.url());
    request.idempotent = false;
    for (int i = 0; i < 3; ++i) {
        CHECK(client.call(request, 5s).has_value());
        // The script closes right after its answer; until that has arrived the connection looks alive.
        std::this_thread::sleep_for(20ms);
    }
    CHECK(server.connections() == 3);
}

TEST_CASE("HttpClient: an answer that comes before the request is sent is read") {
    const auto server = serve([](const HttpRequest&) { return HttpResponse{}; });
    HttpClient client;
    ClientRequest request = get_from("http://" + server->address() + "/");
    request.method = "POST";
    request.body = std::string(3 * 1024 * 1024, 'x');
    const auto result = client.call(request, 5s);
    REQUIRE(result.has_value());
    CHECK(result->status == 413);
}

TEST_CASE("HttpClient: fan_out answers in order, and one that hangs costs only itself") {
    const ScriptedServer hanging([](const RawConnection& connection, int) { hang(connection); });
    const auto server = serve([](const HttpRequest& request) {
        HttpResponse response;
        response.body = request.path;
        return response;
    });
    HttpClient client;
    std::vector<ClientRequest> requests;
    for (int i = 0; i < 50; ++i)
        requests.push_back(
            get_from(i == 17 ? hanging.url() : "http://" + server->address() + "/" + std::to_string(i)));
    requests.push_back(get_from("https://127.0.0.1/"));
    const auto begin = test::Clock::now();
    const auto results = client.fan_out(requests, 400ms);
    CHECK(test::since(begin) >= 395ms);
    CHECK(test::since(begin) < 2s);
    REQUIRE(results.size() == 51);
    for (std::size_t i = 0; i < 50; ++i) {
        CAPTURE(i);
        if (i == 17) {
            CHECK(code_of(results[i]) == ErrorCode::timed_out);
        } else {
            REQUIRE(results[i].has_value());
            CHECK(results[i]->body == std::string("/") + std::to_string(i));
        }
    }
    CHECK(code_of(results[50]) == ErrorCode::invalid_input);
    CHECK(client.fan_out({}, 1s).empty());
}

TEST_CASE("HttpClient: fan_out to a thousand endpoints") {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit before = limit;
    limit.rlim_cur = limit.rlim_max < 4'096 ? limit.rlim_max : 4'096;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 2'200) {
        MESSAGE("skipped: the hard limit of open files is " << limit.rlim_max);
        return;
    }
    std::atomic<int> served{0};
    // 127/8 is loopback, so one listener on all addresses is a thousand endpoints.
    ServerLimits limits;
    limits.queued_requests = 1'000;
    const auto counted = [&](const HttpRequest&) {
        ++served;
        return HttpResponse{};
    };
    const auto all = HttpServer::listen("0.0.0.0:0", counted, limits);
    REQUIRE(all.has_value());
    HttpClient client(1);
    std::vector<ClientRequest> requests;
    for (int i = 0; i < 1'000; ++i)
        requests.push_back(get_from("http://127.0." + std::to_string(1 + i / 250) + "." +
                                    std::to_string(1 + i % 250) + ":" + std::to_string((*all)->port()) +
                                    "/"));
    for (int round = 1; round <= 2; ++round) {
        const auto begin = test::Clock::now();
        const auto results = client.fan_out(requests, 30s);
        MESSAGE("round " << round << ": 1000 endpoints in " << test::since(begin).count() << " ms");
        std::size_t good = 0;
        for (const auto& result : results) good += result.has_value() && result->status == 200 ? 1 : 0;
        CHECK(good == 1'000);
        CHECK(served == 1'000 * round);
    }
    ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("HttpClient: abort ends calls under way at once, and later ones") {
    std::promise<void> arrived;
    const ScriptedServer server([&](const RawConnection& connection, int) {
        connection.read_request();
        arrived.set_value();
        hang(connection);
    });
    HttpClient client;
    auto waiting = std::async(std::launch::async, [&] { return client.call(get_from(server.url()), 30s); });
    arrived.get_future().wait();
    const auto begin = test::Clock::now();
    client.abort();
    CHECK(code_of(waiting.get()) == ErrorCode::cancelled);
    CHECK(test::since(begin) < 100ms);
    CHECK(code_of(client.call(get_from(server.url()), 30s)) == ErrorCode::cancelled);
    CHECK(test::since(begin) < 100ms);
}

TEST_CASE("HttpClient: its destructor ends calls under way at once") {
    std::promise<void> arrived;
    const ScriptedServer server([&](const RawConnection& connection, int) {
        connection.read_request();
        arrived.set_value();
        hang(connection);
    });
    auto client = std::make_unique<HttpClient>();
    HttpClient* const borrowed = client.get();
    auto waiting =
        std::async(std::launch::async, [&] { return borrowed->call(get_from(server.url()), 30s); });
    arrived.get_future().wait();
    const auto begin = test::Clock::now();
    client.reset();
    CHECK(test::since(begin) < 100ms);
    CHECK(code_of(waiting.get()) == ErrorCode::cancelled);
    CHECK(test::since(begin) < 100ms);
}

TEST_CASE("HttpClient: many threads call at once") {
    const auto server = serve([](const HttpRequest& request) {
        HttpResponse response;
        response.body = request.path;
        return response;
    });
    HttpClient client;
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 25; ++i) {
                const std::string path = std::string("/") + std::to_string(t) + "/" + std::to_string(i);
                const auto result = client.call(get_from("http://" + server->address() + path), 10s);
                if (result && result->body == path) ++good;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(good == 200);
}

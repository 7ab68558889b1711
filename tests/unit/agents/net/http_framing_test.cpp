#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "agents/net/http_server.hpp"
#include "tests/unit/agents/net/server_calls.hpp"

using namespace brink;
using namespace brink::net;
using namespace brink::test;
using namespace std::chrono_literals;

TEST_CASE("HttpServer: refuses ambiguous framing with a 400 problem and closes") {
    const auto server = serve();
    const auto post = [](const std::string& headers, const std::string& body = "") {
        return "POST / HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n" + body;
    };
    const std::vector<std::pair<std::string, std::string>> cases{
        {"no Host", "GET / HTTP/1.1\r\n\r\n"},
        {"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
        {"TE: gzip", post("Transfer-Encoding: gzip\r\n", "x")},
        {"TE: gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")},
        {"two TE", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
        {"TE then CL", post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "0\r\n\r\n")},
        {"CL then TE", post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
        {"two CL", post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc")},
        {"conflicting CL", post("Content-Length: 3\r\nContent-Length: 4\r\n", "abc")},
        {"CL list", post("Content-Length: 3, 3\r\n", "abc")},
        {"CL negative", post("Content-Length: -1\r\n")},
        {"CL signed", post("Content-Length: +3\r\n", "abc")},
        {"CL hex", post("Content-Length: 0x3\r\n", "abc")},
        {"CL huge", post("Content-Length: 99999999999999999999999\r\n")},
        {"obs-fold", "GET / HTTP/1.1\r\nHost: a\r\nX-Y: 1\r\n 2\r\n\r\n"},
        {"HTTP/1.0 chunked", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        {"HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n"},
        {"bare LF", "GET / HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n"},
        {"bare CR", "GET / HTTP/1.1\r\nHost: a\rX: 1\r\n\r\n"},
        {"NUL in a header", std::string("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", 29)},
        {"space before colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n"},
        {"lower-case method", "get / HTTP/1.1\r\nHost: a\r\n\r\n"},
        {"bad chunk size", post("Transfer-Encoding: chunked\r\n", "zz\r\nabc\r\n0\r\n\r\n")},
        {"bad chunk end", post("Transfer-Encoding: chunked\r\n", "3\r\nabcX\r\n0\r\n\r\n")},
        {"garbage", "\x16\x03\x01\x02\r\n\r\n"},
        {"parent segment", plain_get("/a/../b")},
        {"parent at the end", plain_get("/a/..")},
        {"encoded parent", plain_get("/a/%2e%2e/b")},
        {"half encoded parent", plain_get("/a/.%2E/b")},
        {"parent behind an encoded slash", plain_get("/a%2f..%2fb")},
        {"parent behind a backslash", plain_get("/a%5c..%5cb")},
        {"encoded NUL", plain_get("/a%00b")},
        {"encoded NUL in the query", plain_get("/a?b=%00")},
        {"encoded CR LF", plain_get("/a%0d%0ab")},
        {"bad percent-encoding", plain_get("/a%zz")},
        {"absolute form", plain_get("http://a/b")},
        {"asterisk form", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"},
        {"authority form", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"},
    };
    for (const auto& [name, bytes] : cases) {
        CAPTURE(name);
        const auto response = ask(*server, bytes);
        CHECK(status_of(response) == 400);
        CHECK(has(response, "\r\nContent-Type: application/problem+json\r\n"));
        CHECK(has(response, "\r\nConnection: close\r\n"));
        const auto json = nlohmann::json::parse(body_of(response), nullptr, false);
        REQUIRE_FALSE(json.is_discarded());
        CHECK(json.at("status") == 400);
        CHECK_FALSE(json.at("detail").get<std::string>().empty());
        CHECK(has(response, "\r\nX-Request-Id: " + json.at("request_id").get<std::string>() + "\r\n"));
    }
}

TEST_CASE("HttpServer: honest requests that look odd are served") {
    const auto server = serve();
    const std::string close = "Connection: close\r\n";
    const auto status = [&](const std::string& bytes) { return status_of(ask(*server, bytes)); };
    CHECK(status("\r\nGET / HTTP/1.1\r\nHost: a\r\n" + close + "\r\n") == 200);
    CHECK(status("GET / HTTP/1.0\r\nHost: a\r\n\r\n") == 200);
    CHECK(status(get_and_close("/a..b/...")) == 200);
    CHECK(status(get_and_close("/%252e%252e/x")) == 200);
    CHECK(status("FOO / HTTP/1.1\r\nHost:a\r\n" + close + "\r\n") == 200);
    const auto chunked = ask(*server, "POST / HTTP/1.1\r\nHost: a\r\n" + close +
                                          "Transfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n"
                                          "Host: evil\r\n\r\n");
    CHECK(status_of(chunked) == 200);
    CHECK(nlohmann::json::parse(body_of(chunked)).at("body_bytes") == 5);
}

TEST_CASE("HttpServer: a body over the limit is 413, and it is not read") {
    ServerLimits limits;
    const auto server = serve(echo, limits);
    const std::string over = std::to_string(limits.body_bytes + 1);
    const std::string head = "POST / HTTP/1.1\r\nHost: a\r\n";
    // Not a byte of the body is sent: the answer must come from the head alone.
    CHECK(status_of(ask(*server, head + "Content-Length: " + over + "\r\n\r\n")) == 413);
    CHECK(status_of(ask(*server, head + "Content-Length: " + over + "\r\n\r\n" +
                                     std::string(limits.body_bytes + 1, 'x'))) == 413);
    CHECK(status_of(ask(*server, head + "Transfer-Encoding: chunked\r\n\r\n100001\r\n")) == 413);
    std::string chunks = head + "Transfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 17; ++i) chunks += "10000\r\n" + std::string(65'536, 'x') + "\r\n";
    CHECK(status_of(ask(*server, chunks)) == 413);

    const auto exact =
        ask(*server, head + "Connection: close\r\nContent-Length: " + std::to_string(limits.body_bytes) +
                         "\r\n\r\n" + std::string(limits.body_bytes, 'x'));
    CHECK(status_of(exact) == 200);
    CHECK(nlohmann::json::parse(body_of(exact)).at("body_bytes") == limits.body_bytes);
}

TEST_CASE("HttpServer: headers over the limit are 431, complete or not") {
    const auto server = serve();
    const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n";
    CHECK(status_of(ask(*server, head + "X: " + std::string(9 * 1024, 'x') + "\r\n\r\n")) == 431);
    CHECK(status_of(ask(*server, head + "X: " + std::string(9 * 1024, 'x'))) == 431);
    CHECK(status_of(ask(*server, "GET /" + std::string(9 * 1024, 'x') + " HTTP/1.1\r\n")) == 431);
    std::string many = head;
    for (int i = 0; i < 2'000; ++i) many += "A: b\r\n";
    CHECK(status_of(ask(*server, many + "\r\n")) == 431);
    CHECK(status_of(ask(*server,
                        head + "Connection: close\r\nX: " + std::string(7 * 1024, 'x') + "\r\n\r\n")) == 200);
    CHECK(status_of(ask(*server, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;" +
                                     std::string(9 * 1024, 'x'))) == 431);
}

TEST_CASE("HttpServer: a dripped request meets the deadline of the whole message") {
    ServerLimits limits;
    limits.request_deadline = 150ms;
    const auto server = serve(echo, limits);
    for (const std::string start :
         {"GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n"}) {
        CAPTURE(start);
        const auto connection = RawConnection::to(server->port());
        const auto begin = test::Clock::now();
        connection.send(start);
        std::string answer;
        // Each drip is well within any deadline for a single read.
        while (answer.empty() && test::since(begin) < 3s) {
            connection.send("x");
            answer = connection.receive(20ms);
        }
        CHECK(status_of(answer) == 408);
        CHECK(test::since(begin) >= 140ms);
        CHECK(test::since(begin) < 1'500ms);
    }
}

TEST_CASE("HttpServer: an idle connection is closed without a word") {
    ServerLimits limits;
    limits.idle_deadline = 50ms;
    const auto server = serve(echo, limits);
    const auto connection = RawConnection::to(server->port());
    CHECK(connection.receive(3s).empty());
    connection.send(plain_get("/"));
    const auto again = RawConnection::to(server->port());
    again.send(plain_get("/"));
    CHECK(status_of(again.receive_response()) == 200);
    CHECK(again.receive(3s).empty());
}

TEST_CASE("HttpServer: Expect: 100-continue is answered before the body comes") {
    const auto server = serve();
    const auto connection = RawConnection::to(server->port());
    connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
    CHECK(connection.receive() == "HTTP/1.1 100 Continue\r\n\r\n");
    connection.send("abc");
    CHECK(status_of(connection.receive_response()) == 200);
    // Refused before the body is asked for.
    connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\nExpect: 100-continue\r\n\r\n");
    CHECK(status_of(connection.receive_all()) == 413);
    CHECK(status_of(ask(*server, "GET / HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n")) == 417);
}

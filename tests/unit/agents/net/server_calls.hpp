#pragma once
#include <doctest/doctest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "agents/net/http_server.hpp"
#include "tests/unit/agents/net/loopback.hpp"

/// An echoing server on a free port and raw calls to it.
namespace brink::test {

using namespace brink::net;

/// Answers with what it understood.
inline HttpResponse echo(const HttpRequest& request) {
    nlohmann::json json;
    json["method"] = request.method;
    json["path"] = request.path;
    json["query"] = request.query;
    json["body_bytes"] = request.body.size();
    json["remote"] = request.remote_address;
    json["id"] = request.request_id;
    HttpResponse response;
    response.body = json.dump();
    return response;
}

inline std::unique_ptr<HttpServer> serve(Handler handler = echo, const ServerLimits& limits = {}) {
    auto server = HttpServer::listen("127.0.0.1:0", std::move(handler), limits);
    REQUIRE(server.has_value());
    return std::move(*server);
}

/// Sends the bytes on a fresh connection and returns all that comes back until the server closes.
inline std::string ask(const HttpServer& server, const std::string& bytes) {
    const auto connection = RawConnection::to(server.port());
    connection.send(bytes);
    return connection.receive_all();
}

inline int status_of(const std::string& response) {
    return response.starts_with("HTTP/1.1 ") ? std::stoi(response.substr(9, 3)) : 0;
}

inline std::string body_of(const std::string& response) {
    const auto end = response.find("\r\n\r\n");
    return end == std::string::npos ? "" : response.substr(end + 4);
}

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

inline std::string plain_get(const std::string& target) {
    return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
}
inline std::string get_and_close(const std::string& target) {
    return "GET " + target + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
}

}  // namespace brink::test

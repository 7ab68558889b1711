#include "agents/net/router.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "agents/net/text.hpp"

using namespace brink;
using namespace brink::net;

namespace {

HttpRequest request(const std::string& method, const std::string& path) {
    HttpRequest result;
    result.method = method;
    result.path = path;
    result.request_id = "id-7";
    return result;
}

/// A handler that answers with its name and the path parameters.
Handler named(const std::string& name) {
    return [name](const HttpRequest& request) {
        HttpResponse response;
        response.body = name;
        for (const auto& parameter : request.path_parameters) response.body += "|" + parameter;
        return response;
    };
}

Router table() {
    Router router;
    router.add("GET", "/", named("root"));
    router.add("GET", "/sweeps", named("list"));
    router.add("POST", "/sweeps", named("start"));
    router.add("GET", "/sweeps/{id}", named("show"));
    router.add("DELETE", "/sweeps/{id}", named("delete"));
    router.add("POST", "/sweeps/{id}:cancel", named("cancel"));
    router.add("GET", "/sweeps/{id}/curve.csv", named("csv"));
    router.add("GET", "/sweeps/{id}/trials/{n}/samples", named("samples"));
    router.add("GET", "/sweeps/latest", named("latest"));
    router.add("DELETE", "/agents/{id}", named("agent"));
    return router;
}

}  // namespace

TEST_CASE("Router: finds literal, parameter and verb patterns, the most specific first") {
    const Router router = table();
    const auto body = [&](const char* method, const char* path) {
        return router(request(method, path)).body;
    };
    CHECK(body("GET", "/") == "root");
    CHECK(body("GET", "/sweeps") == "list");
    CHECK(body("POST", "/sweeps") == "start");
    CHECK(body("GET", "/sweeps/42") == "show|42");
    CHECK(body("POST", "/sweeps/42:cancel") == "cancel|42");
    CHECK(body("GET", "/sweeps/42/curve.csv") == "csv|42");
    CHECK(body("GET", "/sweeps/42/trials/3/samples") == "samples|42|3");
    CHECK(body("GET", "/sweeps/latest") == "latest");
    CHECK(body("DELETE", "/agents/10.0.0.1:8700") == "agent|10.0.0.1:8700");
}

TEST_CASE("Router: what no pattern matches is a 404 problem") {
    const Router router = table();
    for (const std::string path :
         {"/nothing", "/sweeps/", "/sweeps/1/", "/sweeps//curve.csv", "/sweeps/1/curve.csv/x", "//"}) {
        CAPTURE(path);
        const auto response = router(request("GET", path));
        CHECK(response.status == 404);
        CHECK(response.content_type == "application/problem+json");
    }
    // A verb needs something before it.
    CHECK(router(request("POST", "/sweeps/:cancel")).status == 405);
}

TEST_CASE("Router: another method is a 405 with Allow") {
    const Router router = table();
    const auto list = router(request("PUT", "/sweeps"));
    CHECK(list.status == 405);
    CHECK(find_field(list.headers, "allow").value() == "GET, HEAD, POST");
    const auto cancel = router(request("GET", "/sweeps/42:cancel"));
    CHECK(cancel.status == 405);
    CHECK(find_field(cancel.headers, "allow").value() == "POST");
    const auto show = router(request("POST", "/sweeps/42"));
    CHECK(show.status == 405);
    CHECK(find_field(show.headers, "allow").value() == "GET, HEAD, DELETE");
}

TEST_CASE("Router: HEAD is GET without the body but with its length") {
    const auto response = table()(request("HEAD", "/sweeps/42"));
    CHECK(response.status == 200);
    CHECK(response.body.empty());
    CHECK(find_field(response.headers, "content-length").value() == "7");
    CHECK(table()(request("HEAD", "/sweeps/42:cancel")).status == 405);
}

TEST_CASE("Router: a token is needed everywhere but on open paths") {
    Router router = table();
    router.require_token("secret", {"/"});
    CHECK(router(request("GET", "/")).status == 200);
    const auto refused = router(request("GET", "/sweeps"));
    CHECK(refused.status == 401);
    CHECK(find_field(refused.headers, "www-authenticate").value().starts_with("Bearer"));
    CHECK_MESSAGE(router(request("GET", "/nothing")).status == 401, "an unknown path must tell nothing");

    const auto with = [&](const std::string& value) {
        HttpRequest call = request("GET", "/sweeps");
        call.headers.emplace_back("authorization", value);
        return router(call).status;
    };
    CHECK(with("Bearer secret") == 200);
    CHECK(with("bearer secret") == 200);
    for (const std::string wrong : {"Bearer secre", "Bearer secret2", "Bearer ", "Bearer", "secret",
                                    "Basic secret", "Bearer  secret", "Bearer SECRET", ""}) {
        CAPTURE(wrong);
        CHECK(with(wrong) == 401);
    }
    HttpRequest twice = request("GET", "/sweeps");
    twice.headers = {{"Authorization", "Bearer secret"}, {"Authorization", "Bearer other"}};
    CHECK(router(twice).status == 401);
}

TEST_CASE("Router: a table that cannot work is refused when it is made") {
    Router router;
    CHECK_THROWS_AS(router.add("GET", "sweeps", named("x")), std::invalid_argument);
    CHECK_THROWS_AS(router.add("GET", "/sweeps/{id", named("x")), std::invalid_argument);
    CHECK_THROWS_AS(router.add("GET", "/sweeps/a{id}", named("x")), std::invalid_argument);
    CHECK_THROWS_AS(router.require_token("", {}), std::invalid_argument);
    CHECK(table().routes().size() == 10);
    CHECK(table().routes().at(5) == std::pair<std::string, std::string>{"POST", "/sweeps/{id}:cancel"});
}

TEST_CASE("problem: is an RFC 9457 body, also for bytes that are not UTF-8") {
    const auto response =
        problem(400, "bad \xff byte", request("GET", "/"), {{"/trial/measure_s", "too short"}});
    CHECK(response.status == 400);
    const auto json = nlohmann::json::parse(response.body);
    CHECK(json.at("type") == "about:blank");
    CHECK(json.at("title") == "Bad Request");
    CHECK(json.at("status") == 400);
    CHECK(json.at("request_id") == "id-7");
    CHECK(json.at("errors").at(0).at("pointer") == "/trial/measure_s");
    CHECK(json.at("errors").at(0).at("detail") == "too short");
    CHECK_FALSE(nlohmann::json::parse(problem(404, "x", request("GET", "/")).body).contains("errors"));
}

TEST_CASE("problem: each error code has its status") {
    const auto status = [](ErrorCode code) {
        return problem(Error{code, "what"}, request("GET", "/")).status;
    };
    CHECK(status(ErrorCode::invalid_input) == 400);
    CHECK(status(ErrorCode::unauthorised) == 401);
    CHECK(status(ErrorCode::not_found) == 404);
    CHECK(status(ErrorCode::conflict) == 409);
    CHECK(status(ErrorCode::unavailable) == 503);
    CHECK(status(ErrorCode::timed_out) == 504);
    CHECK(status(ErrorCode::bad_reply) == 502);
    CHECK(status(ErrorCode::storage) == 503);
    CHECK(status(ErrorCode::configuration) == 500);
    CHECK(status(ErrorCode::cancelled) == 500);
    CHECK(status(ErrorCode::internal) == 500);
}

#include "agents/net/router.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "agents/net/text.hpp"

namespace brink::net {
namespace {

std::vector<std::string> split(std::string_view path) {
    if (!path.empty() && path.front() == '/') path.remove_prefix(1);
    std::vector<std::string> segments;
    for (;;) {
        const std::size_t slash = path.find('/');
        segments.emplace_back(path.substr(0, slash));
        if (slash == std::string_view::npos) return segments;
        path.remove_prefix(slash + 1);
    }
}

/// How a pattern's segment matched: a better match is a larger value.
enum class Rank { none, parameter, parameter_with_verb, literal };

/// Matches `{name}` and `{name}suffix`; the parameter is never empty.
Rank match_segment(std::string_view pattern, std::string_view text, std::vector<std::string>& parameters) {
    if (pattern.empty() || pattern.front() != '{') return pattern == text ? Rank::literal : Rank::none;
    const std::string_view suffix = pattern.substr(pattern.find('}') + 1);
    if (text.size() <= suffix.size() || !text.ends_with(suffix)) return Rank::none;
    parameters.emplace_back(text.substr(0, text.size() - suffix.size()));
    return suffix.empty() ? Rank::parameter : Rank::parameter_with_verb;
}

struct Match {
    std::vector<Rank> ranks{};
    std::vector<std::string> parameters{};
};

std::optional<Match> match(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
    if (pattern.size() != path.size()) return std::nullopt;
    Match result;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const Rank rank = match_segment(pattern[i], path[i], result.parameters);
        if (rank == Rank::none) return std::nullopt;
        result.ranks.push_back(rank);
    }
    return result;
}

/// Digests have equal lengths, so the comparison takes the same time whatever the caller sent.
bool equal_in_constant_time(const std::string& a, const std::string& b) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest_a{};
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest_b{};
    SHA256(reinterpret_cast<const unsigned char*>(a.data()), a.size(), digest_a.data());
    SHA256(reinterpret_cast<const unsigned char*>(b.data()), b.size(), digest_b.data());
    return CRYPTO_memcmp(digest_a.data(), digest_b.data(), digest_a.size()) == 0;
}

bool carries_token(const HttpRequest& request, const std::string& token) {
    static constexpr std::string_view kScheme = "bearer ";
    const auto fields = std::count_if(request.headers.begin(), request.headers.end(), [](const auto& field) {
        return equal_ignoring_case(field.first, "authorization");
    });
    if (fields != 1) return false;
    const std::string value = *request.header("authorization");
    if (!equal_ignoring_case(std::string_view(value).substr(0, kScheme.size()), kScheme)) return false;
    return equal_in_constant_time(value.substr(kScheme.size()), token);
}

HttpResponse unauthorised(const HttpRequest& request) {
    HttpResponse response = problem(
        401, "this path needs the header 'Authorization: Bearer <token>' with the token that was configured",
        request);
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"brink\"");
    return response;
}

/// A file keeps its place: the server takes its size, sends no byte of it to a HEAD, and removes it.
HttpResponse without_body(HttpResponse response) {
    if (response.file) return response;
    response.headers.emplace_back("Content-Length", std::to_string(response.body.size()));
    response.body.clear();
    return response;
}

}  // namespace

void Router::add(std::string method, std::string pattern, Handler handler) {
    if (pattern.empty() || pattern.front() != '/')
        throw std::invalid_argument("a route's pattern must start with '/': '" + pattern + "'");
    std::vector<std::string> segments = split(pattern);
    for (const auto& segment : segments) {
        const bool parameter = !segment.empty() && segment.front() == '{';
        if (parameter ? segment.find('}') == std::string::npos : segment.find('{') != std::string::npos)
            throw std::invalid_argument("a route's segment must be literal, '{name}' or '{name}:verb': '" +
                                        pattern + "'");
    }
    routes_.push_back(Route{std::move(method), std::move(pattern), std::move(segments), std::move(handler)});
}

void Router::require_token(std::string token, std::vector<std::string> open_paths) {
    if (token.empty()) throw std::invalid_argument("an empty token would let everybody in");
    token_ = std::move(token);
    open_paths_ = std::move(open_paths);
}

HttpResponse Router::operator()(const HttpRequest& request) const {
    const bool open = std::find(open_paths_.begin(), open_paths_.end(), request.path) != open_paths_.end();
    if (!token_.empty() && !open && !carries_token(request, token_)) return unauthorised(request);

    // The most specific pattern wins, whatever the order of the table: `/sweeps/{id}:cancel` before
    // `/sweeps/{id}`.
    const std::vector<std::string> path = split(request.path);
    std::vector<std::pair<const Route*, Match>> best;
    for (const auto& route : routes_) {
        auto found = match(route.segments, path);
        if (!found) continue;
        if (!best.empty() && found->ranks < best.front().second.ranks) continue;
        if (!best.empty() && found->ranks > best.front().second.ranks) best.clear();
        best.emplace_back(&route, std::move(*found));
    }
    if (best.empty()) return problem(404, "there is nothing at '" + request.path + "'", request);

    const auto run = [&](const std::string& method) -> std::optional<HttpResponse> {
        const auto chosen = std::find_if(best.begin(), best.end(),
                                         [&](const auto& entry) { return entry.first->method == method; });
        if (chosen == best.end()) return std::nullopt;
        HttpRequest routed = request;
        routed.method = method;
        routed.path_parameters = std::move(chosen->second.parameters);
        return chosen->first->handler(routed);
    };
    if (auto response = run(request.method))
        return request.method == "HEAD" ? without_body(std::move(*response)) : std::move(*response);
    if (request.method == "HEAD") {
        if (auto response = run("GET")) return without_body(std::move(*response));
    }

    std::string allow;
    for (const auto& [route, unused] : best) {
        allow += (allow.empty() ? "" : ", ") + route->method;
        if (route->method == "GET") allow += ", HEAD";
    }
    HttpResponse response =
        problem(405, request.method + " is not possible at '" + request.path + "'; use " + allow, request);
    response.headers.emplace_back("Allow", allow);
    return response;
}

std::vector<std::pair<std::string, std::string>> Router::routes() const {
    std::vector<std::pair<std::string, std::string>> result;
    result.reserve(routes_.size());
    for (const auto& route : routes_) result.emplace_back(route.method, route.pattern);
    return result;
}

}  // namespace brink::net

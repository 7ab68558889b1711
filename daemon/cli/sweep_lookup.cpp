#include "daemon/cli/sweep_lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "daemon/cli/fields.hpp"

namespace brink::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kPage = 100;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return text;
}

bool newer(const json& a, const json& b) {
    // RFC 3339 in UTC sorts as text; ids settle the same millisecond.
    const std::string at_a = text(a, "created_at");
    const std::string at_b = text(b, "created_at");
    return at_a != at_b ? at_a > at_b : text(a, "id") > text(b, "id");
}

}  // namespace

bool has_ended(const std::string& state) {
    return state == "succeeded" || state == "failed" || state == "cancelled";
}

tl::expected<std::vector<json>, Error> fetch_sweeps(const ControllerClient& controller, std::size_t limit) {
    std::vector<json> sweeps;
    std::string token;
    do {
        const std::size_t size = std::min(kPage, limit - sweeps.size());
        const std::string page_token = token.empty() ? "" : "&page_token=" + path_segment(token);
        const auto page = controller.get(fmt::format("/sweeps?page_size={}{}", size, page_token));
        if (!page) return tl::unexpected{page.error()};
        for (const auto& sweep : list(*page, "sweeps")) sweeps.push_back(sweep);
        const std::string next = text(*page, "next_page_token");
        if (!next.empty() && next == token) {
            return tl::unexpected{
                Error{ErrorCode::bad_reply, "the controller's list of sweeps does not end"}};
        }
        token = next;
    } while (!token.empty() && sweeps.size() < limit);
    std::stable_sort(sweeps.begin(), sweeps.end(), newer);
    if (sweeps.size() > limit) sweeps.resize(limit);
    return sweeps;
}

tl::expected<std::string, Error> match_prefix(const std::vector<json>& sweeps, const std::string& prefix) {
    const std::string wanted = upper(prefix);
    std::vector<std::string> found;
    for (const auto& sweep : sweeps) {
        std::string id = text(sweep, "id");
        if (id == prefix) return id;
        if (upper(id).starts_with(wanted)) found.push_back(std::move(id));
    }
    if (found.size() == 1) return found.front();
    if (found.empty()) {
        return tl::unexpected{Error{ErrorCode::not_found,
                                    fmt::format("no sweep's id begins with \"{}\"; see brink list", prefix)}};
    }
    std::string candidates = found[0] + ", " + found[1];
    if (found.size() > 2) candidates += fmt::format(" and {} more", found.size() - 2);
    return tl::unexpected{Error{ErrorCode::invalid_input,
                                fmt::format("\"{}\" could be {}; write more of the id", prefix, candidates)}};
}

tl::expected<std::string, Error> choose_newest(const std::vector<json>& sweeps) {
    const json* best = nullptr;
    const auto open = [](const json& sweep) { return !has_ended(text(sweep, "state")); };
    for (const auto& sweep : sweeps) {
        if (best == nullptr || (open(sweep) != open(*best) ? open(sweep) : newer(sweep, *best)))
            best = &sweep;
    }
    if (best == nullptr) {
        return tl::unexpected{
            Error{ErrorCode::not_found,
                  "there is no sweep yet; start one: brink sweep start --cluster NAME --sizes 100,1k"}};
    }
    return text(*best, "id");
}

tl::expected<std::string, Error> choose_newest_ended(const std::vector<json>& sweeps) {
    const json* best = nullptr;
    for (const auto& sweep : sweeps) {
        if (has_ended(text(sweep, "state")) && (best == nullptr || newer(sweep, *best))) best = &sweep;
    }
    if (best == nullptr) {
        return tl::unexpected{Error{ErrorCode::not_found,
                                    "no sweep has ended yet; name one to draw what it has: brink plot ID"}};
    }
    return text(*best, "id");
}

tl::expected<std::string, Error> resolve_sweep(const ControllerClient& controller,
                                               const std::string& prefix) {
    if (prefix.empty())
        return tl::unexpected{Error{ErrorCode::invalid_input, "a sweep's id cannot be empty"}};
    const auto sweeps = fetch_sweeps(controller, kAll);
    if (!sweeps) return tl::unexpected{sweeps.error()};
    return match_prefix(*sweeps, prefix);
}

tl::expected<std::string, Error> newest_sweep(const ControllerClient& controller) {
    const auto sweeps = fetch_sweeps(controller, kAll);
    if (!sweeps) return tl::unexpected{sweeps.error()};
    return choose_newest(*sweeps);
}

tl::expected<std::string, Error> newest_ended_sweep(const ControllerClient& controller) {
    const auto sweeps = fetch_sweeps(controller, kAll);
    if (!sweeps) return tl::unexpected{sweeps.error()};
    return choose_newest_ended(*sweeps);
}

}  // namespace brink::cli

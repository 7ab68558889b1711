#include "agents/worker/agent_api.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>

#include "agents/protocol/field_reader.hpp"
#include "agents/protocol/json.hpp"
#include "agents/worker/metrics.hpp"
#include "config/nearest_key.hpp"

namespace brink::worker {
namespace {

using net::HttpRequest;
using net::HttpResponse;
using nlohmann::json;

HttpResponse answer(int status, const json& body) {
    // Text from the library or the caller may hold any bytes; an answer always goes out.
    return HttpResponse{
        status, "application/json", body.dump(-1, ' ', false, json::error_handler_t::replace), {}, {}};
}

HttpResponse answer(const tl::expected<protocol::TaskReport, Error>& result, const HttpRequest& request) {
    return result ? answer(200, protocol::to_json(*result)) : net::problem(result.error(), request);
}

tl::expected<std::string, Error> task_id(const HttpRequest& request) {
    constexpr std::size_t kLongest = 64;
    const auto& id = request.path_parameters.at(0);
    const bool good = !id.empty() && id.size() <= kLongest && std::ranges::all_of(id, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
    });
    if (good) return id;
    return tl::unexpected(Error{ErrorCode::invalid_input,
                                "a trial id has 1 to 64 characters of A-Z a-z 0-9 . _ - and this one has not",
                                {}});
}

/// Whole number ≥ 0 of a query parameter; `absent` when it is not there.
tl::expected<std::int64_t, Error> query_number(const HttpRequest& request, const std::string& name,
                                               std::optional<std::int64_t> absent) {
    const auto text = request.query_value(name);
    if (!text && absent) return *absent;
    std::int64_t value = -1;
    if (text) {
        const auto* end = text->data() + text->size();
        const auto [stop, fault] = std::from_chars(text->data(), end, value);
        if (fault == std::errc{} && stop == end && value >= 0) return value;
    }
    return tl::unexpected(Error{
        ErrorCode::invalid_input,
        "the query parameter '" + name + "' must be a whole number ≥ 0" + (text ? "" : " and is missing"),
        {}});
}

std::optional<Error> unknown_query(const HttpRequest& request, const std::vector<std::string>& known) {
    for (const auto& [name, value] : request.query)
        if (std::ranges::find(known, name) == known.end())
            return Error{ErrorCode::invalid_input, "query: " + unknown_key_message(name, known), {}};
    return std::nullopt;
}

bool is_json(const HttpRequest& request) {
    auto type = request.header("Content-Type").value_or("");
    type = type.substr(0, type.find(';'));
    while (!type.empty() && type.back() == ' ') type.pop_back();
    std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
    return type == "application/json";
}

/// Runs `use(value)` with the request's body as read by `read`, or answers what is wrong with it.
template <typename Read, typename Use>
HttpResponse with_body(const HttpRequest& request, Read read, Use use) {
    if (!is_json(request))
        return net::problem(415, "send the body as Content-Type: application/json", request);
    const auto document = protocol::parse_json(request.body);
    if (!document) return net::problem(document.error(), request);
    const auto value = read(*document);
    if (!value) return net::problem(value.error(), request);
    return use(*value);
}

struct EpochOnly {
    std::int64_t epoch = 0;
};

tl::expected<EpochOnly, Error> read_stop_order(const json& document) {
    protocol::FieldReader fields(document, "");
    const EpochOnly order{fields.integer("epoch", 0, std::numeric_limits<std::int64_t>::max())};
    return fields.finish(order, "stop order");
}

HttpResponse put_task(TaskTable& table, const HttpRequest& request) {
    const auto id = task_id(request);
    if (!id) return net::problem(id.error(), request);
    return with_body(request, protocol::read_task_spec, [&](const protocol::TaskSpec& spec) {
        const auto prepared = table.prepare(*id, spec);
        if (!prepared) return net::problem(prepared.error(), request);
        return answer(prepared->created ? 201 : 200, protocol::to_json(prepared->report));
    });
}

HttpResponse start_task(TaskTable& table, const HttpRequest& request) {
    const auto id = task_id(request);
    if (!id) return net::problem(id.error(), request);
    return with_body(request, protocol::read_start_order, [&](const protocol::StartOrder& order) {
        return answer(table.start(*id, order), request);
    });
}

HttpResponse stop_task(TaskTable& table, const HttpRequest& request) {
    const auto id = task_id(request);
    if (!id) return net::problem(id.error(), request);
    const auto since = query_number(request, "since", 0);
    if (!since) return net::problem(since.error(), request);
    return with_body(request, read_stop_order, [&](const EpochOnly& order) {
        return answer(table.stop(*id, order.epoch, *since), request);
    });
}

HttpResponse get_report(TaskTable& table, const HttpRequest& request) {
    const auto id = task_id(request);
    if (!id) return net::problem(id.error(), request);
    if (const auto fault = unknown_query(request, {"since", "epoch"})) return net::problem(*fault, request);
    const auto epoch = query_number(request, "epoch", std::nullopt);
    if (!epoch) return net::problem(epoch.error(), request);
    const auto since = query_number(request, "since", 0);
    if (!since) return net::problem(since.error(), request);
    return answer(table.report(*id, *epoch, *since), request);
}

HttpResponse delete_task(TaskTable& table, const HttpRequest& request) {
    const auto id = task_id(request);
    if (!id) return net::problem(id.error(), request);
    if (const auto fault = unknown_query(request, {"epoch"})) return net::problem(*fault, request);
    const auto epoch = query_number(request, "epoch", std::nullopt);
    if (!epoch) return net::problem(epoch.error(), request);
    if (const auto dropped = table.drop(*id, *epoch); !dropped) return net::problem(dropped.error(), request);
    return HttpResponse{204, "", "", {}, {}};
}

HttpResponse list_tasks(const TaskTable& table) {
    auto tasks = json::array();
    for (const auto& report : table.list()) tasks.push_back(protocol::to_json(report));
    return answer(200, json{{"tasks", std::move(tasks)}});
}

HttpResponse renew_lease(TaskTable& table, const HttpRequest& request) {
    return with_body(request, protocol::read_lease_order, [&](const protocol::LeaseOrder& order) {
        const auto left = table.lease(order);
        if (!left) return net::problem(left.error(), request);
        return answer(200, json{{"epoch", order.epoch}, {"lease_remaining_ms", *left}});
    });
}

}  // namespace

void add_agent_routes(net::Router& router, TaskTable& table) {
    router.add("PUT", "/v1/tasks/{trial}", [&table](const HttpRequest& r) { return put_task(table, r); });
    router.add("POST", "/v1/tasks/{trial}/start",
               [&table](const HttpRequest& r) { return start_task(table, r); });
    router.add("POST", "/v1/tasks/{trial}/stop",
               [&table](const HttpRequest& r) { return stop_task(table, r); });
    router.add("GET", "/v1/tasks/{trial}/report",
               [&table](const HttpRequest& r) { return get_report(table, r); });
    router.add("DELETE", "/v1/tasks/{trial}",
               [&table](const HttpRequest& r) { return delete_task(table, r); });
    router.add("GET", "/v1/tasks", [&table](const HttpRequest&) { return list_tasks(table); });
    router.add("GET", "/v1/host",
               [&table](const HttpRequest&) { return answer(200, protocol::to_json(table.host())); });
    router.add("POST", "/v1/lease", [&table](const HttpRequest& r) { return renew_lease(table, r); });
    router.add("GET", "/healthz", [](const HttpRequest&) { return answer(200, json{{"status", "ok"}}); });
    router.add("GET", "/metrics", [&table](const HttpRequest&) {
        return HttpResponse{200, kMetricsContentType, metrics_text(table.figures()), {}, {}};
    });
}

}  // namespace brink::worker

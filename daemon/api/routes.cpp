#include "daemon/api/routes.hpp"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <nlohmann/json.hpp>

#include "agents/protocol/json.hpp"
#include "config/sweep_spec.hpp"
#include "daemon/api/cluster_check.hpp"
#include "daemon/api/page.hpp"
#include "daemon/api/views.hpp"
#include "openapi_text.hpp"

namespace brink::api {
namespace {

using net::HttpRequest;
using net::HttpResponse;
using nlohmann::json;

constexpr int kDefaultPage = 50;
constexpr int kLargestPage = 500;

HttpResponse answer(const json& body, int status = 200) {
    HttpResponse response{.status = status};
    response.body = body.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    return response;
}

HttpResponse text(std::string body, std::string content_type) {
    HttpResponse response{.content_type = std::move(content_type)};
    response.body = std::move(body);
    return response;
}

bool flag(const HttpRequest& request, const std::string& name) {
    return request.query_value(name).value_or("") == "true";
}

/// A page size that is no number, or beyond the range, is coerced into it.
int page_size(const HttpRequest& request) {
    const auto given = request.query_value("page_size").value_or("");
    int value = kDefaultPage;
    const auto [end, fault] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (fault == std::errc::result_out_of_range)
        value = kLargestPage;
    else if (fault != std::errc() || end != given.data() + given.size())
        value = kDefaultPage;
    return std::clamp(value, 1, kLargestPage);
}

/// The sweep that a path names, or the problem to answer.
tl::expected<storage::SweepRow, Error> named_sweep(const ApiContext& context, const HttpRequest& request) {
    const auto& id = request.path_parameters.at(0);
    auto row = context.store.sweep(id);
    if (!row) return tl::unexpected(row.error());
    if (!*row) return tl::unexpected(Error{ErrorCode::not_found, "there is no sweep '" + id + "'", {}});
    return **row;
}

tl::expected<json, Error> whole_sweep(const ApiContext& context, const storage::SweepRow& sweep) {
    const auto points = context.store.points(sweep.id);
    if (!points) return tl::unexpected(points.error());
    const auto trials = context.store.trials(sweep.id);
    if (!trials) return tl::unexpected(trials.error());
    return sweep_view(sweep, *points, *trials, context.sweeps.progress(sweep.id), context.clock.now_s(),
                      context.clock.unix_ms());
}

tl::expected<SweepSpec, Error> spec_from(const HttpRequest& request) {
    auto document = protocol::parse_json(request.body);
    if (!document) return tl::unexpected(document.error());
    return read_sweep_spec(*document);
}

HttpResponse start_sweep(const ApiContext& context, const HttpRequest& request) {
    const auto type = request.header("content-type").value_or("");
    if (type.rfind("application/json", 0) != 0) {
        return net::problem(415, "the body must be application/json, not '" + type + "'", request);
    }
    const auto spec = spec_from(request);
    if (!spec) return net::problem(spec.error(), request);
    if (flag(request, "validate_only")) {
        const auto look = context.sweeps.validate(*spec);
        if (!look) return net::problem(look.error(), request);
        auto plan = plan_view(plan_of(*spec));
        plan["brokers"] = look->brokers.size();
        plan["agents"] = json::array();
        for (const auto& agent : look->agents) plan["agents"].push_back(agent_view(agent));
        return answer(
            {{"valid", true}, {"spec", to_json(*spec)}, {"plan", plan}, {"warnings", look->warnings}});
    }
    const auto started = context.sweeps.start(*spec);
    if (!started) return net::problem(started.error(), request);
    const auto view = whole_sweep(context, *started);
    if (!view) return net::problem(view.error(), request);
    auto response = answer(*view, 202);
    response.headers.emplace_back("Location", "/api/v1/sweeps/" + started->id);
    return response;
}

HttpResponse list_sweeps(const ApiContext& context, const HttpRequest& request) {
    const int size = page_size(request);
    // One more than asked tells whether there is a next page.
    const auto rows = context.store.sweeps(size + 1, request.query_value("page_token"));
    if (!rows) return net::problem(rows.error(), request);
    json sweeps = json::array();
    for (std::size_t i = 0; i < rows->size() && i < static_cast<std::size_t>(size); ++i) {
        const auto view = whole_sweep(context, (*rows)[i]);
        if (!view) return net::problem(view.error(), request);
        sweeps.push_back(*view);
    }
    const bool more = rows->size() > static_cast<std::size_t>(size);
    return answer(
        {{"sweeps", sweeps},
         {"next_page_token", more ? json((*rows)[static_cast<std::size_t>(size) - 1].id) : json()}});
}

HttpResponse show_sweep(const ApiContext& context, const HttpRequest& request) {
    const auto view =
        named_sweep(context, request).and_then([&](const auto& s) { return whole_sweep(context, s); });
    return view ? answer(*view) : net::problem(view.error(), request);
}

HttpResponse cancel_sweep(const ApiContext& context, const HttpRequest& request) {
    const auto view = context.sweeps.cancel(request.path_parameters.at(0)).and_then([&](const auto& s) {
        return whole_sweep(context, s);
    });
    return view ? answer(*view) : net::problem(view.error(), request);
}

HttpResponse delete_sweep(const ApiContext& context, const HttpRequest& request) {
    const auto deleted = named_sweep(context, request).and_then([&](const auto& s) {
        return context.store.delete_sweep(s.id);
    });
    if (!deleted) return net::problem(deleted.error(), request);
    return HttpResponse{.status = 204};
}

/// A list that belongs to a sweep: read its rows, show each.
template <class Rows, class View>
HttpResponse list_of(const ApiContext& context, const HttpRequest& request, const char* name, Rows rows,
                     View view) {
    const auto sweep = named_sweep(context, request);
    if (!sweep) return net::problem(sweep.error(), request);
    const auto found = rows(sweep->id);
    if (!found) return net::problem(found.error(), request);
    json list = json::array();
    for (const auto& row : *found) list.push_back(view(row));
    return answer({{name, list}});
}

HttpResponse show_samples(const ApiContext& context, const HttpRequest& request) {
    const auto sweep = named_sweep(context, request);
    if (!sweep) return net::problem(sweep.error(), request);
    const auto& given = request.path_parameters.at(1);
    int number = 0;
    const auto [end, fault] = std::from_chars(given.data(), given.data() + given.size(), number);
    if (fault != std::errc() || end != given.data() + given.size()) {
        return net::problem(400, "'" + given + "' is not the number of a trial", request);
    }
    const auto trial = context.store.trial(sweep->id, number);
    if (!trial) return net::problem(trial.error(), request);
    if (!*trial)
        return net::problem(404, fmt::format("sweep {} has no trial {}", sweep->id, number), request);
    const auto samples = context.store.samples(sweep->id, number);
    if (!samples) return net::problem(samples.error(), request);
    const auto reports = context.store.agent_reports(sweep->id, number);
    if (!reports) return net::problem(reports.error(), request);
    json body{{"samples", json::array()}, {"agents", json::array()}};
    for (const auto& s : *samples) body["samples"].push_back(sample_view(s));
    for (const auto& r : *reports) body["agents"].push_back(agent_report_view(r));
    return answer(body);
}

HttpResponse curve_csv(const ApiContext& context, const HttpRequest& request) {
    const auto csv =
        named_sweep(context, request).and_then([&](const auto& s) { return context.store.curve_csv(s.id); });
    if (!csv) return net::problem(csv.error(), request);
    auto response = text(*csv, "text/csv; charset=utf-8; header=present");
    response.headers.emplace_back("Content-Disposition",
                                  "attachment; filename=\"curve-" + request.path_parameters.at(0) + ".csv\"");
    return response;
}

HttpResponse list_agents(const ApiContext& context) {
    json agents = json::array();
    for (const auto& agent : context.sweeps.agents()) agents.push_back(agent_view(agent));
    return answer({{"agents", agents}});
}

HttpResponse list_clusters(const ApiContext& context) {
    const auto holder = context.sweeps.holder();
    json clusters = json::array();
    for (const auto& c : context.sweeps.config().clusters) {
        clusters.push_back(
            {{"name", c.name},
             {"bootstrap_servers", c.bootstrap_servers},
             {"brokers_configured", c.prometheus ? c.prometheus->brokers.size() : c.metrics.size()},
             {"busy_with", holder && holder->cluster == c.name ? json(holder->id) : json()}});
    }
    return answer({{"clusters", clusters}});
}

HttpResponse backup(const ApiContext& context, const HttpRequest& request) {
    static std::atomic<unsigned> number{0};
    const auto file =
        context.scratch / fmt::format("brink-backup-{}-{}.sqlite", context.clock.unix_ms(), ++number);
    if (auto made = context.store.backup(file); !made) return net::problem(made.error(), request);
    HttpResponse response{.content_type = "application/vnd.sqlite3"};
    response.file = file;
    response.headers.emplace_back("Content-Disposition", "attachment; filename=\"brink.sqlite\"");
    return response;
}

void add_operations(net::Router& router, const ApiContext& context) {
    router.add("GET", "/healthz", [](const HttpRequest&) { return answer({{"status", "ok"}}); });
    router.add("GET", "/readyz", [context](const HttpRequest& request) {
        const auto works = context.store.probe();
        return works ? answer({{"status", "ready"}}) : net::problem(works.error(), request);
    });
    router.add("GET", "/metrics", [context](const HttpRequest&) {
        context.metrics.set_sweeps_running(context.sweeps.holder() ? 1 : 0);
        return text(context.metrics.text(), "text/plain; version=0.0.4; charset=utf-8");
    });
    router.add("GET", "/openapi.yaml", [](const HttpRequest&) { return text(kOpenApi, "application/yaml"); });
}

}  // namespace

net::Router make_router(const ApiContext& c) {
    net::Router router;
    const std::string v1 = "/api/v1";
    const std::string sweep = v1 + "/sweeps/{id}";
    router.add("POST", v1 + "/sweeps", [c](const HttpRequest& r) { return start_sweep(c, r); });
    router.add("GET", v1 + "/sweeps", [c](const HttpRequest& r) { return list_sweeps(c, r); });
    router.add("GET", sweep, [c](const HttpRequest& r) { return show_sweep(c, r); });
    router.add("DELETE", sweep, [c](const HttpRequest& r) { return delete_sweep(c, r); });
    router.add("POST", sweep + ":cancel", [c](const HttpRequest& r) { return cancel_sweep(c, r); });
    router.add("GET", sweep + "/points", [c](const HttpRequest& r) {
        return list_of(c, r, "points", [&](const auto& id) { return c.store.points(id); }, point_view);
    });
    router.add("GET", sweep + "/trials", [c](const HttpRequest& r) {
        return list_of(c, r, "trials", [&](const auto& id) { return c.store.trials(id); }, trial_view);
    });
    router.add("GET", sweep + "/trials/{n}/samples",
               [c](const HttpRequest& r) { return show_samples(c, r); });
    router.add("GET", sweep + "/curve.csv", [c](const HttpRequest& r) { return curve_csv(c, r); });
    router.add("GET", v1 + "/agents", [c](const HttpRequest&) { return list_agents(c); });
    router.add("GET", v1 + "/clusters", [c](const HttpRequest&) { return list_clusters(c); });
    router.add("GET", v1 + "/clusters/{name}/check", [c](const HttpRequest& r) {
        const auto checked = check_cluster(c.sweeps, c.clock, r.path_parameters.at(0));
        return checked ? answer(*checked) : net::problem(checked.error(), r);
    });
    router.add("GET", v1 + "/backup", [c](const HttpRequest& r) { return backup(c, r); });
    add_operations(router, c);
    add_page(router);
    return router;
}

std::vector<std::string> open_paths() {
    std::vector<std::string> paths{"/healthz", "/readyz"};
    for (const auto& path : page_paths()) paths.push_back(path);
    return paths;
}

}  // namespace brink::api

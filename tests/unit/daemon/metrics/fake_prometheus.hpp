#pragma once
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agents/net/http_server.hpp"

namespace brink::test {

/// A Prometheus server as far as brink asks it: it stores samples that the test gives it and answers
/// `time()`, range selectors and metadata. Its clock is a day ahead of this machine's.
class FakePrometheus {
  public:
    using Labels = std::map<std::string, std::string>;

    FakePrometheus() {
        auto listening = net::HttpServer::listen(
            "127.0.0.1:0", [this](const net::HttpRequest& request) { return answer(request); });
        REQUIRE(listening);
        server_ = std::move(*listening);
    }

    [[nodiscard]] std::string url() const { return "http://" + server_->address(); }
    /// Unix time of its clock.
    [[nodiscard]] double now_s() const {
        const std::lock_guard lock{mutex_};
        return clock_s();
    }
    /// Its clock less our monotonic one.
    [[nodiscard]] double offset_s() const { return now_s() - monotonic_s(); }
    static double monotonic_s() {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    void store(const std::string& name, const Labels& labels, double at_s, const std::string& value) {
        const std::lock_guard lock{mutex_};
        series_[{name, labels}][std::llround(at_s * 1e3)] = value;
    }
    /// A scrape of a broker's exporter that was begun at `at_s`.
    void scrape(const std::string& instance, double at_s, double idle_ns, double took_s = 0.2) {
        const Labels target{{"instance", instance}, {"job", "kafka"}};
        store("up", target, at_s, "1");
        store("scrape_duration_seconds", target, at_s, fmt::format("{}", took_s));
        auto idle = target;
        idle["name"] = "RequestHandlerAvgIdlePercent";
        store("kafka_server_kafkarequesthandlerpool_count", idle, at_s, fmt::format("{:.0f}", idle_ns));
        auto shrinks = target;
        shrinks["name"] = "IsrShrinksPerSec";
        store("kafka_server_replicamanager_count", shrinks, at_s, "16");
    }
    /// One that failed.
    void failed_scrape(const std::string& instance, double at_s) {
        const Labels target{{"instance", instance}, {"job", "kafka"}};
        store("up", target, at_s, "0");
        store("scrape_duration_seconds", target, at_s, "1");
    }
    void set_clock_forward(double seconds) {
        const std::lock_guard lock{mutex_};
        ahead_s_ += seconds;
    }
    /// What to answer to queries of samples, or to all of a path, instead.
    void answer_samples(net::HttpResponse response) {
        const std::lock_guard lock{mutex_};
        samples_ = std::move(response);
    }
    void answer_path(const std::string& path, net::HttpResponse response) {
        const std::lock_guard lock{mutex_};
        paths_[path] = std::move(response);
    }
    void need_authorization(const std::string& value) {
        const std::lock_guard lock{mutex_};
        authorization_ = value;
    }
    /// The queries so far, and `metadata` for each question after it.
    [[nodiscard]] std::vector<std::string> asked() const {
        const std::lock_guard lock{mutex_};
        return asked_;
    }

  private:
    using json = nlohmann::json;

    [[nodiscard]] double clock_s() const {
        return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count() +
               ahead_s_;
    }
    static net::HttpResponse success(const json& data) {
        return {200, "application/json", json{{"status", "success"}, {"data", data}}.dump(), {}, {}};
    }

    net::HttpResponse answer(const net::HttpRequest& request) {
        const std::lock_guard lock{mutex_};
        if (!authorization_.empty() && request.header("Authorization") != authorization_)
            return {401, "text/plain", "Unauthorized", {}, {}};
        if (const auto found = paths_.find(request.path); found != paths_.end()) return found->second;
        if (request.path == "/api/v1/metadata") {
            asked_.emplace_back("metadata");
            return success({{"kafka_server_kafkarequesthandlerpool_count",
                             json::array({{{"type", "counter"}, {"help", "idle"}, {"unit", ""}}})}});
        }
        if (request.path != "/api/v1/query") return {404, "text/plain", "404 page not found", {}, {}};
        const auto query =
            request.method == "POST" ? form_value(request.body) : request.query_value("query").value_or("");
        asked_.push_back(query);
        if (query == "time()") {
            const auto now = fmt::format("{:.3f}", clock_s());
            return success({{"resultType", "scalar"}, {"result", {std::stod(now), now}}});
        }
        return samples_ ? *samples_ : select(query);
    }

    /// The one field of a form.
    static std::string form_value(const std::string& body) {
        if (!body.starts_with("query=")) return {};
        std::string value;
        for (std::size_t i = 6; i < body.size(); ++i) {
            if (body[i] == '%') {
                value += static_cast<char>(std::stoi(body.substr(i + 1, 2), nullptr, 16));
                i += 2;
            } else {
                value += body[i];
            }
        }
        return value;
    }

    /// Series whose labels are those of the selector, with the samples of its range.
    net::HttpResponse select(const std::string& query) const {
        const auto open = query.rfind("}[");
        if (open == std::string::npos) return {400, "text/plain", "not a range selector", {}, {}};
        const double range_ms = std::strtod(query.c_str() + open + 2, nullptr);
        const auto now_ms = std::llround(clock_s() * 1e3);
        const bool probe = query.find(".*requesthandler.*") != std::string::npos;
        json result = json::array();
        for (const auto& [id, samples] : series_) {
            const auto& [name, labels] = id;
            const bool probed = name == "up" || name.find("requesthandler") != std::string::npos;
            if ((probe && !probed) || !selected(query.substr(0, open), labels)) continue;
            json metric{{"__name__", name}};
            for (const auto& [label, value] : labels) metric[label] = value;
            json values = json::array();
            for (const auto& [at_ms, value] : samples) {
                if (at_ms > now_ms || static_cast<double>(now_ms - at_ms) >= range_ms) continue;
                values.push_back({static_cast<double>(at_ms) / 1e3, value});
            }
            if (!values.empty()) result.push_back({{"metric", metric}, {"values", values}});
        }
        return success({{"resultType", "matrix"}, {"result", result}});
    }

    static bool selected(const std::string& selector, const Labels& labels) {
        for (const char* label : {"instance", "job"}) {
            const auto key = std::string(label) + "=\"";
            const auto at = selector.find(key);
            if (at == std::string::npos) continue;
            const auto begin = at + key.size();
            const auto wanted = selector.substr(begin, selector.find('"', begin) - begin);
            if (const auto found = labels.find(label); found == labels.end() || found->second != wanted)
                return false;
        }
        return true;
    }

    mutable std::mutex mutex_;
    double ahead_s_ = 86'400;
    std::map<std::pair<std::string, Labels>, std::map<std::int64_t, std::string>> series_;
    std::optional<net::HttpResponse> samples_;
    std::map<std::string, net::HttpResponse> paths_;
    std::string authorization_;
    std::vector<std::string> asked_;
    std::unique_ptr<net::HttpServer> server_;
};

}  // namespace brink::test

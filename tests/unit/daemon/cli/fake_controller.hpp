#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/net/http_server.hpp"
#include "daemon/cli/run.hpp"

namespace brink::cli::test {

/// A controller on loopback that answers from a table of "METHOD /path" and remembers what it was asked.
class FakeController {
  public:
    struct Answer {
        int status = 200;
        std::string body{};
        std::string content_type = "application/json";
    };

    FakeController() {
        auto listening = net::HttpServer::listen(
            "127.0.0.1:0", [this](const net::HttpRequest& request) { return answer(request); });
        server_ = std::move(listening.value());
    }
    void on(const std::string& call, int status, const nlohmann::json& body) {
        on(call, {status, body.dump()});
    }
    void on(const std::string& call, Answer answer) {
        const std::lock_guard lock{mutex_};
        answers_[call] = std::move(answer);
    }
    [[nodiscard]] std::string url() const { return "http://" + server_->address(); }
    /// "METHOD /path" of each request, with the body for POST.
    std::vector<std::pair<std::string, std::string>> calls() {
        const std::lock_guard lock{mutex_};
        return calls_;
    }
    std::string authorization() {
        const std::lock_guard lock{mutex_};
        return authorization_;
    }
    void stop() { server_->stop(); }

  private:
    net::HttpResponse answer(const net::HttpRequest& request) {
        const std::lock_guard lock{mutex_};
        std::string call = request.method + " " + request.path;
        if (request.query_value("validate_only")) call += "?validate_only";
        calls_.emplace_back(call, request.body);
        authorization_ = request.header("Authorization").value_or("");
        const auto found = answers_.find(call);
        net::HttpResponse response;
        if (found == answers_.end()) {
            response.status = 404;
            response.content_type = "application/problem+json";
            response.body = R"({"status":404,"title":"Not Found","detail":"no such thing"})";
            return response;
        }
        response.status = found->second.status;
        response.body = found->second.body;
        response.content_type = found->second.content_type;
        return response;
    }

    std::mutex mutex_;
    std::map<std::string, Answer> answers_;
    std::vector<std::pair<std::string, std::string>> calls_;
    std::string authorization_;
    std::unique_ptr<net::HttpServer> server_;  // last: its threads use the rest
};

/// A host without a terminal whose time passes only in `pause`.
struct FakeHost {
    std::string out{};
    std::string err{};
    std::map<std::string, std::string> environment{};
    std::string input{};
    std::optional<std::string> answer{};
    bool can_ask = false;
    bool terminal = false;
    bool interrupted = false;
    bool closed_pipe = false;
    std::chrono::steady_clock::time_point now{};
    std::function<void()> on_pause = [] {};
    std::string system_config{};

    Host host() {
        Host host;
        host.env = [this](const std::string& name) -> std::optional<std::string> {
            const auto found = environment.find(name);
            if (found == environment.end()) return std::nullopt;
            return found->second;
        };
        host.out = [this](std::string_view text) {
            if (closed_pipe) throw ClosedPipe{};
            out += text;
        };
        host.err = [this](std::string_view text) { err += text; };
        host.read_input = [this] { return input; };
        host.read_line = [this] { return answer; };
        host.out_is_terminal = terminal;
        host.can_ask = can_ask;
        host.columns = [] { return 100; };
        host.rows = [] { return 40; };
        host.now = [this] { return now; };
        host.local_time = [] { return std::string{"14:22:07"}; };
        host.pause = [this](std::chrono::milliseconds time) {
            now += time;
            on_pause();
            return !interrupted;
        };
        host.interrupted = [this] { return interrupted; };
        host.on_interrupt = [](const std::function<void()>& /*unused*/) {};
        host.system_config = system_config;
        return host;
    }

    int run(const FakeController& controller, std::vector<std::string> arguments) {
        arguments.emplace_back("--controller");
        arguments.push_back(controller.url());
        return cli::run(arguments, host());
    }
};

inline nlohmann::json sweep_document(const std::string& state, int failed_points = 0) {
    return {{"id", "01JDQ4"},
            {"cluster", "local"},
            {"name", "n"},
            {"state", state},
            {"state_reason", ""},
            {"created_at", "2026-01-01T00:00:00Z"},
            {"topic", "brink-01JDQ4"},
            {"progress",
             {{"points_total", 1},
              {"points_done", 1 - failed_points},
              {"points_failed", failed_points},
              {"current", nullptr}}},
            {"elapsed_s", 60}};
}

/// Answers for one sweep in a state.
inline void serve_sweep(FakeController& controller, const std::string& state,
                        const std::string& point_state = "done") {
    const auto sweep = sweep_document(state, point_state == "failed" ? 1 : 0);
    controller.on("GET /api/v1/sweeps", 200, {{"sweeps", {sweep}}, {"next_page_token", nullptr}});
    controller.on("GET /api/v1/sweeps/01JDQ4", 200, sweep);
    controller.on(
        "GET /api/v1/sweeps/01JDQ4/points", 200,
        {{"points",
          {{{"point", 0}, {"message_bytes", 100}, {"state", point_state}, {"state_reason", "no room"}}}}});
    controller.on("GET /api/v1/sweeps/01JDQ4/trials", 200,
                  {{"trials",
                    {{{"trial", 1},
                      {"point", 0},
                      {"state", "finished"},
                      {"producers", 4},
                      {"rate_each", 10},
                      {"message_bytes", 100},
                      {"verdict", "sustained"}}}}});
}

}  // namespace brink::cli::test

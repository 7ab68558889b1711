#include "daemon/cli/check_view.hpp"

#include <fmt/format.h>

#include "daemon/cli/agents_view.hpp"
#include "daemon/cli/fields.hpp"
#include "daemon/cli/format.hpp"
#include "daemon/cli/table.hpp"

namespace brink::cli {
namespace {

using nlohmann::json;

void append(std::vector<std::string>& lines, const std::vector<std::string>& more,
            const std::string& indent) {
    for (const auto& line : more) lines.push_back(indent + line);
}

std::string broker_title(const json& broker) {
    std::string line = fmt::format("broker {}  {}:{}", integer(broker, "id").value_or(-1),
                                   text(broker, "host"), integer(broker, "port").value_or(0));
    if (const std::string rack = text(broker, "rack"); !rack.empty()) line += "  rack " + rack;
    line += boolean(broker, "judgeable") ? "  can be judged" : "  CANNOT be judged";
    if (const std::string reason = text(broker, "reason"); !reason.empty()) line += ": " + reason;
    return line;
}

std::vector<std::string> broker_lines(const json& broker) {
    std::vector<std::string> lines{broker_title(broker)};
    std::string rest;
    const auto add = [&rest](const std::string& part) { rest += (rest.empty() ? "" : ", ") + part; };
    if (const auto idle = number(broker, "idle_at_rest")) add("IO idle " + format_share(*idle));
    if (const auto churn = number(broker, "isr_churn_at_rest")) add("ISR churn " + format_share(*churn));
    if (const auto in = number(broker, "bytes_in_per_s")) add(format_count(*in) + "B/s in");
    if (text(broker, "meter") == "shared_with_controller")
        add("idle meter shared with the controller's pool");
    if (!rest.empty()) lines.push_back("  at rest: " + rest);
    if (const std::string url = text(broker, "metrics_url"); !url.empty())
        lines.push_back("  metrics: " + url);
    if (const auto largest = integer(broker, "message_max_bytes")) {
        lines.push_back("  largest message: " + format_size(*largest));
    }
    Table table{{{"SIGNAL"}, {"VALUE", true}, {"SERIES"}}};
    const json& signals = member(broker, "signals");
    if (signals.is_object()) {
        for (const auto& [name, signal] : signals.items()) {
            const auto value = number(signal, "value");
            const std::string series = text(signal, "series");
            table.add(
                {name, value ? fmt::format("{:.10g}", *value) : "–", series.empty() ? "not found" : series});
        }
    }
    if (!table.empty()) append(lines, table.lines(), "  ");
    return lines;
}

void append_sentences(std::vector<std::string>& lines, const char* mark, const json& sentences) {
    for (const auto& sentence : sentences) {
        if (sentence.is_string()) lines.push_back(mark + sentence.get<std::string>());
    }
}

}  // namespace

std::vector<std::string> check_lines(const json& report) {
    std::vector<std::string> lines;
    const json& kafka = member(report, "kafka");
    std::string title = "cluster " + text(report, "cluster");
    if (const std::string id = text(kafka, "cluster_id"); !id.empty()) title += "  id " + id;
    if (const auto controller = integer(kafka, "controller_id"))
        title += fmt::format("  controller {}", *controller);
    lines.push_back(title);
    if (const auto interval = number(report, "sampling_interval_s")) {
        lines.push_back(
            fmt::format("metrics come from Prometheus, which scrapes each broker every {:.4g} s", *interval));
    }
    for (const auto& broker : list(report, "brokers")) append(lines, broker_lines(broker), "");
    if (const json& agents = list(report, "agents"); agents.empty()) {
        lines.emplace_back("no agents");
    } else {
        append(lines, agent_lines(agents), "");
    }
    append_sentences(lines, "warning: ", list(report, "warnings"));
    append_sentences(lines, "problem: ", list(report, "problems"));
    lines.emplace_back(boolean(report, "fit")
                           ? "Fit: this cluster can be judged."
                           : "Not fit: this cluster cannot be judged until the problems are solved.");
    return lines;
}

}  // namespace brink::cli

#include "daemon/metrics/prometheus_answer.hpp"

#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "agents/protocol/json.hpp"
#include "daemon/metrics/metrics_call.hpp"

namespace brink::prometheus {

namespace {

using nlohmann::json;

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

std::string joined(const Labels& labels) {
    std::string text;
    for (const auto& [name, value] : labels) {
        text.append(text.empty() ? "" : ",").append(name).append("=").append(quoted(value));
    }
    return text;
}

tl::unexpected<Error> bad_reply(std::string message) {
    return tl::unexpected(Error{ErrorCode::bad_reply, std::move(message), {}});
}

std::string beginning(const std::string& body) {
    std::string start = body.substr(0, 60);
    for (char& c : start) {
        if (c < ' ' || c > '~') c = ' ';
    }
    return start;
}

/// What a status without Prometheus' own error in the body means.
Error status_fault(int status) {
    const auto answered = "Prometheus answered HTTP " + std::to_string(status);
    std::string what = "is this the URL of a Prometheus server's root, as in http://prometheus:9090?";
    if (status == 401 || status == 403) what = "set bearer_token_file, or basic_user and basic_password_file";
    if (status >= 300 && status < 400) what = "redirects are not followed; give the final URL";
    if (status >= 500) what = "see its log, or that of what stands before it";
    return Error{code_of_status(status), answered + ": " + what, {}};
}

/// The `data` of an answer that says "success".
tl::expected<json, Error> data_of(const net::ClientResult& answer) {
    if (!answer) {
        auto error = answer.error();
        if (error.code == ErrorCode::unavailable)
            error.message += "; is Prometheus running, and is the address right?";
        if (error.code == ErrorCode::timed_out)
            error.message += "; allow it more time with scrape_timeout_ms";
        return tl::unexpected(error);
    }
    if (is_html(*answer)) {
        if (answer->status != 200) return tl::unexpected(status_fault(answer->status));
        return bad_reply(
            "answered a web page and not Prometheus' API: the URL is that of the server's root, as in "
            "http://prometheus:9090");
    }
    auto body = protocol::parse_json(answer->body);
    const bool is_answer = body && body->is_object() && body->contains("status");
    if (is_answer && (*body)["status"] == "error") {
        const auto text = [&](const char* key) {
            return body->contains(key) && (*body)[key].is_string() ? (*body)[key].get<std::string>() : "";
        };
        return tl::unexpected(Error{code_of_status(answer->status),
                                    "Prometheus refuses the query (HTTP " + std::to_string(answer->status) +
                                        ", " + text("errorType") + "): " + text("error"),
                                    {}});
    }
    if (answer->status != 200) return tl::unexpected(status_fault(answer->status));
    if (!is_answer || (*body)["status"] != "success" || !body->contains("data")) {
        return bad_reply("this is not the answer of a Prometheus server; it begins with \"" +
                         beginning(answer->body) + "\"" + (body ? "" : " (" + body.error().message + ")"));
    }
    return std::move((*body)["data"]);
}

bool is_number(const std::string& text) {
    if (text == "NaN" || text == "+Inf" || text == "-Inf") return true;
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    return fault == std::errc{} && end == text.data() + text.size();
}

/// `[1435781451.781,"1"]`
std::optional<StoredSample> sample_of(const json& pair) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_string())
        return std::nullopt;
    const double at_s = pair[0].get<double>();
    // Far outside of what a clock shows, the conversion to milliseconds would not be defined.
    if (!(std::abs(at_s) < 1e12)) return std::nullopt;
    StoredSample sample{.at_ms = std::llround(at_s * 1e3), .value = pair[1].get<std::string>()};
    if (!is_number(sample.value)) return std::nullopt;
    return sample;
}

std::optional<StoredSeries> series_of(const json& entry) {
    if (!entry.is_object() || !entry.contains("metric") || !entry["metric"].is_object()) return std::nullopt;
    if (!entry.contains("values") || !entry["values"].is_array()) return std::nullopt;
    StoredSeries series;
    for (const auto& [name, value] : entry["metric"].items()) {
        if (!value.is_string()) return std::nullopt;
        if (name == "__name__") {
            series.name = value.get<std::string>();
        } else {
            series.labels.emplace(name, value.get<std::string>());
        }
    }
    for (const auto& pair : entry["values"]) {
        auto sample = sample_of(pair);
        if (!sample) return std::nullopt;
        series.samples.push_back(std::move(*sample));
    }
    return series;
}

}  // namespace

std::string selector(const Labels& labels, const std::string& names) {
    return "{" + joined(labels) + ",__name__=~" + quoted(names) + "}";
}

std::string any_of(const std::vector<std::string>& names) {
    std::string all;
    for (const auto& name : names) {
        if (!all.empty()) all += '|';
        for (const char c : name) {
            if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') all += '\\';
            all += c;
        }
    }
    return "(?i:(" + all + ")(_total)?)|up|scrape_duration_seconds";
}

std::string shown(const Labels& labels) { return "{" + joined(labels) + "}"; }

std::string percent_encoded(const std::string& text) {
    constexpr const char* kDigits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           c == '-' || c == '.' || c == '_' || c == '~';
        if (plain) {
            out += c;
        } else {
            out.append({'%', kDigits[byte >> 4U], kDigits[byte & 15U]});
        }
    }
    return out;
}

tl::expected<std::vector<StoredSeries>, Error> read_matrix(const net::ClientResult& answer) {
    const auto data = data_of(answer);
    if (!data) return tl::unexpected(data.error());
    if (!data->is_object() || data->value("resultType", json()) != "matrix" || !data->contains("result") ||
        !(*data)["result"].is_array()) {
        return bad_reply("Prometheus answered something else than the raw samples it was asked for: " +
                         beginning(data->dump()));
    }
    std::vector<StoredSeries> all;
    for (const auto& entry : (*data)["result"]) {
        auto series = series_of(entry);
        if (!series)
            return bad_reply("Prometheus answered a series that cannot be read: " + beginning(entry.dump()));
        all.push_back(std::move(*series));
    }
    return all;
}

tl::expected<ClockReading, Error> read_clock(const net::ClientResult& answer) {
    const auto data = data_of(answer);
    if (!data) return tl::unexpected(data.error());
    const auto result = data->is_object() ? data->value("result", json()) : json();
    const auto sample = sample_of(result);
    double now_s = 0;
    if (sample) std::from_chars(sample->value.data(), sample->value.data() + sample->value.size(), now_s);
    if (now_s <= 0)
        return bad_reply("Prometheus answered something else than its clock: " + beginning(data->dump()));
    const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
    const double round_trip_s = seconds(answer->received - answer->sent);
    const double middle_s = seconds(answer->sent.time_since_epoch()) + round_trip_s / 2;
    return ClockReading{.unix_s = now_s, .offset_s = now_s - middle_s, .within_s = round_trip_s / 2};
}

tl::expected<std::map<std::string, std::string>, Error> read_types(const net::ClientResult& answer) {
    const auto data = data_of(answer);
    if (!data) return tl::unexpected(data.error());
    if (!data->is_object()) return bad_reply("Prometheus answered no metadata: " + beginning(data->dump()));
    std::map<std::string, std::string> types;
    for (const auto& [family, entries] : data->items()) {
        std::optional<std::string> type;
        bool agreed = true;
        for (const auto& entry : entries) {
            if (!entry.is_object() || !entry.contains("type") || !entry["type"].is_string()) continue;
            const auto said = entry["type"].get<std::string>();
            agreed = agreed && (!type || *type == said);
            type = said;
        }
        if (type && agreed) types.emplace(family, *type);
    }
    return types;
}

}  // namespace brink::prometheus

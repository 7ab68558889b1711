#include "daemon/metrics/prometheus_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "daemon/metrics/metrics_call.hpp"

namespace brink {

namespace {

using prometheus::ClockReading;
using prometheus::StoredScrape;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A few series that say when a broker was scraped, also by servers that do not store `up`.
constexpr const char* kProbed =
    "up|process_start_time_seconds|jmx_scrape_error|redpanda_cpu_busy_seconds_total|(?i:.*requesthandler.*)";
constexpr double kProbed_s = 300;
/// A document of this size takes ten times as much memory while it is read.
constexpr std::size_t kMaxAnswerBytes = 32UL * 1024 * 1024;
/// How often the clocks are compared at first: the shortest round trip counts.
constexpr int kClockReadings = 3;
/// Clocks of hosts that are kept on time differ by far less between two calls.
constexpr double kClockJump_s = 1.0;
/// Of the first answer: enough to tell two scrapes apart.
constexpr double kFirstIntervals = 2.5;
constexpr double kLongestRange_s = 60;
constexpr double kLongestRangeIntervals = 20;

double monotonic_s(steady_clock::time_point at) {
    return std::chrono::duration<double>(at.time_since_epoch()).count();
}

milliseconds left(steady_clock::time_point until) {
    return std::max(milliseconds{1}, std::chrono::duration_cast<milliseconds>(until - steady_clock::now()));
}

std::int64_t unix_ms_of(double at_s) {
    const auto ago = std::chrono::duration<double>(monotonic_s(steady_clock::now()) - at_s);
    const auto then = std::chrono::system_clock::now().time_since_epoch() - ago;
    return std::chrono::duration_cast<milliseconds>(then).count();
}

Error with_size_hint(Error error) {
    if (error.message.find("larger than the limit") != std::string::npos)
        error.message += "; do the labels fit more than one broker?";
    return error;
}

/// What several targets have in common is no use to tell them apart, so all their labels are shown.
Error several(const std::vector<prometheus::Labels>& targets) {
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < targets.size() && i < 3; ++i) shown.push_back(prometheus::shown(targets[i]));
    if (targets.size() > shown.size()) shown.emplace_back("…");
    return Error{
        ErrorCode::configuration,
        fmt::format("the labels fit {} targets, {}: add the label that tells this broker from the others",
                    targets.size(), fmt::join(shown, " and ")),
        {}};
}

}  // namespace

PrometheusSource::PrometheusSource(net::HttpClient& http, PrometheusConfig server, SignalReader reader)
    : http_(http),
      server_(std::move(server)),
      reader_(std::move(reader)),
      wanted_(prometheus::any_of(reader_.names().names())) {
    for (const auto& broker : server_.brokers) brokers_.push_back({.config = broker});
}

std::vector<Scrape> PrometheusSource::scrape_all(milliseconds deadline) {
    const std::lock_guard lock{mutex_};
    const auto until = steady_clock::now() + deadline;
    std::vector<Scrape> scrapes;
    const auto all_failed = [&](const Error& error) {
        for (const auto& broker : brokers_) scrapes.push_back(failed(broker, error));
        return scrapes;
    };
    if (const auto met = meet_server(until); !met) return all_failed(met.error());
    const auto unseen = find_brokers(until);

    std::vector<net::ClientRequest> requests{time_request()};
    for (std::size_t i = 0; i < brokers_.size(); ++i) {
        if (!unseen[i]) requests.push_back(samples_request(brokers_[i], wanted_, range_s(brokers_[i])));
    }
    const auto answers = http_.fan_out(requests, left(until));
    const auto now = prometheus::read_clock(answers.front());
    if (!now) return all_failed(now.error());
    if (const auto steady = check_clock(*now); !steady) return all_failed(steady.error());
    std::size_t next = 1;
    for (std::size_t i = 0; i < brokers_.size(); ++i) {
        if (unseen[i]) {
            scrapes.push_back(failed(brokers_[i], *unseen[i]));
        } else {
            add_scrapes(brokers_[i], answers.at(next++), *now, scrapes);
        }
    }
    return scrapes;
}

tl::expected<void, Error> PrometheusSource::meet_server(Until until) {
    if (offset_s_) return {};
    std::optional<ClockReading> best;
    for (int i = 0; i < kClockReadings; ++i) {
        const auto reading = prometheus::read_clock(http_.call(time_request(), left(until)));
        if (!reading) return tl::unexpected(reading.error());
        if (!best || reading->within_s < best->within_s) best = *reading;
    }
    const auto metadata = http_.call(request("/api/v1/metadata"), left(until));
    if (!metadata && metadata.error().code != ErrorCode::bad_reply) return tl::unexpected(metadata.error());
    // Servers that speak Prometheus' language without having its metadata leave the types unknown, which the
    // recogniser can cope with.
    if (auto types = prometheus::read_types(metadata)) types_ = std::move(*types);
    offset_s_ = best->offset_s;
    return {};
}

std::vector<std::optional<Error>> PrometheusSource::find_brokers(Until until) {
    std::vector<std::optional<Error>> errors(brokers_.size());
    std::vector<net::ClientRequest> requests;
    for (const auto& broker : brokers_) {
        if (!broker.interval_s) requests.push_back(samples_request(broker, kProbed, kProbed_s));
    }
    if (requests.empty()) return errors;
    const auto answers = http_.fan_out(requests, left(until));
    std::size_t next = 0;
    for (std::size_t i = 0; i < brokers_.size(); ++i) {
        auto& broker = brokers_[i];
        if (broker.interval_s) continue;
        const auto series = prometheus::read_matrix(answers.at(next++));
        if (!series) {
            errors[i] = series.error();
            continue;
        }
        for (const auto& s : *series) {
            if (!s.samples.empty()) broker.newest_ms = std::max(broker.newest_ms, s.samples.back().at_ms);
        }
        const auto targets = prometheus::targets_of(*series);
        broker.interval_s = targets.size() > 1 ? std::nullopt : prometheus::interval_of(*series);
        if (targets.size() > 1) {
            errors[i] = several(targets);
        } else if (broker.newest_ms == 0) {
            errors[i] =
                Error{ErrorCode::not_found,
                      fmt::format("Prometheus has had no sample with these labels for {:.0f} s: correct "
                                  "the labels (its page /targets shows them), or is the target down?",
                                  kProbed_s),
                      {}};
        } else if (!broker.interval_s) {
            errors[i] =
                Error{ErrorCode::unavailable,
                      fmt::format("Prometheus has a single scrape of the last {:.0f} s, so how often it "
                                  "scrapes is not known yet: wait for the next one",
                                  kProbed_s),
                      {}};
        } else {
            const std::int64_t first_ms = std::llround(kFirstIntervals * *broker.interval_s * 1e3);
            broker.delivered_ms = std::max(broker.delivered_ms, broker.newest_ms - first_ms);
        }
    }
    return errors;
}

tl::expected<void, Error> PrometheusSource::check_clock(const ClockReading& now) {
    const double moved = now.offset_s - *offset_s_;
    if (std::abs(moved) <= kClockJump_s + now.within_s) return {};
    // From here on samples are dated by the clock as it is now; those of before keep their dates, which were
    // right. None of them is handed out again by a clock that was set back.
    offset_s_ = now.offset_s;
    for (auto& broker : brokers_) {
        broker.newest_ms = std::llround(now.unix_s * 1e3);
        broker.delivered_ms = std::max(broker.delivered_ms, broker.newest_ms);
    }
    return tl::unexpected(
        Error{ErrorCode::bad_reply,
              fmt::format(
                  "the clock of Prometheus' host was set by {:+.1f} s against this machine's, so its latest "
                  "samples cannot be dated",
                  moved),
              {}});
}

void PrometheusSource::add_scrapes(Broker& broker, const net::ClientResult& answer, const ClockReading& now,
                                   std::vector<Scrape>& scrapes) const {
    auto series = prometheus::read_matrix(answer);
    if (!series) {
        scrapes.push_back(failed(broker, with_size_hint(series.error())));
        return;
    }
    const auto targets = prometheus::targets_of(*series);
    if (targets.size() > 1) {
        scrapes.push_back(failed(broker, several(targets)));
        return;
    }
    prometheus::PageRules rules{.target = broker.config.labels, .types = types_};
    if (!targets.empty()) rules.target.insert(targets[0].begin(), targets[0].end());
    const auto stored = prometheus::scrapes_of(std::move(*series), rules, broker.delivered_ms);
    for (const auto& scrape : stored) scrapes.push_back(dated(broker, scrape));
    if (stored.empty()) {
        scrapes.push_back(silence(broker, now));
        return;
    }
    broker.delivered_ms = stored.back().at_ms;
    broker.newest_ms = stored.back().at_ms;
}

Scrape PrometheusSource::dated(const Broker& broker, const StoredScrape& stored) const {
    const double took_s = stored.took_s.value_or(0);
    const double at_s = static_cast<double>(stored.at_ms) / 1e3 + took_s / 2 - *offset_s_;
    const auto miss = [&](const Error& error) {
        auto scrape = failed(broker, error);
        scrape.failed_at_s = at_s;
        return scrape;
    };
    if (stored.up == false) {
        return miss(
            {ErrorCode::unavailable,
             "the target did not answer Prometheus (up is 0): is the exporter running, and fast enough for "
             "scrape_timeout?",
             {}});
    }
    if (stored.page.empty()) {
        return miss(
            {ErrorCode::bad_reply,
             "Prometheus stored no series of a broker for this target, only up: is the target a broker's "
             "exporter, and do metric_relabel_configs drop its series?",
             {}});
    }
    auto reading = reader_.read(stored.page);
    if (!reading) return miss(reading.error());
    reading->sample.at_s = at_s;
    reading->scrape_ms = took_s * 1e3;
    reading->at_unix_ms = unix_ms_of(at_s);
    return {.broker_id = broker.config.broker_id, .reading = std::move(*reading)};
}

Scrape PrometheusSource::silence(const Broker& broker, const ClockReading& now) const {
    const double age_s = now.unix_s - static_cast<double>(broker.newest_ms) / 1e3;
    const double allowed_s = server_.lag_s + 2 * broker.interval_s.value_or(0);
    auto scrape =
        failed(broker, {ErrorCode::unavailable,
                        fmt::format("Prometheus' newest sample is {:.0f} s old (allowed: lag_s and two of "
                                    "its intervals, {:.0f} s): is the target down?",
                                    age_s, allowed_s),
                        {}});
    scrape.nothing_new = age_s <= allowed_s;
    return scrape;
}

Scrape PrometheusSource::failed(const Broker& broker, const Error& error) const {
    return {.broker_id = broker.config.broker_id,
            .reading = tl::unexpected(
                error.within(fmt::format("metrics of broker {} at {} {}", broker.config.broker_id,
                                         shown_url(server_.url), prometheus::shown(broker.config.labels))))};
}

net::ClientRequest PrometheusSource::request(const std::string& path_and_query) const {
    net::ClientRequest request;
    request.url = server_.url + path_and_query;
    request.max_body_bytes = kMaxAnswerBytes;
    request.headers.emplace_back("Accept", "application/json");
    authorise(request, server_.bearer_token, server_.basic_user, server_.basic_password);
    return request;
}

net::ClientRequest PrometheusSource::samples_request(const Broker& broker, const std::string& names,
                                                     double range_s) const {
    const auto query = fmt::format("{}[{}ms]", prometheus::selector(broker.config.labels, names),
                                   std::llround(std::ceil(range_s * 1e3)));
    // As a form: with all names the query is longer than what proxies let pass in an address.
    auto asking = request("/api/v1/query");
    asking.method = "POST";
    asking.content_type = "application/x-www-form-urlencoded";
    asking.body = "query=" + prometheus::percent_encoded(query);
    return asking;
}

net::ClientRequest PrometheusSource::time_request() const { return request("/api/v1/query?query=time()"); }

double PrometheusSource::range_s(const Broker& broker) const {
    const double interval_s = broker.interval_s.value_or(0);
    const double now_s = monotonic_s(steady_clock::now()) + *offset_s_;
    const double known_s = static_cast<double>(broker.delivered_ms) / 1e3;
    const double longest_s = std::max(kLongestRange_s, server_.lag_s + kLongestRangeIntervals * interval_s);
    return std::clamp(now_s - known_s + kClockJump_s, kClockJump_s, longest_s);
}

std::vector<int> PrometheusSource::broker_ids() const {
    std::vector<int> ids;
    ids.reserve(server_.brokers.size());
    for (const auto& broker : server_.brokers) ids.push_back(broker.broker_id);
    return ids;
}

std::string PrometheusSource::origin(int broker_id) const {
    for (const auto& broker : server_.brokers) {
        if (broker.broker_id == broker_id)
            return "Prometheus " + shown_url(server_.url) + " " + prometheus::shown(broker.labels);
    }
    return {};
}

double PrometheusSource::sampling_interval_s() const {
    const std::lock_guard lock{mutex_};
    double slowest = 0;
    for (const auto& broker : brokers_) slowest = std::max(slowest, broker.interval_s.value_or(0));
    return slowest;
}

double PrometheusSource::late_by_s() const { return server_.lag_s + sampling_interval_s(); }

}  // namespace brink

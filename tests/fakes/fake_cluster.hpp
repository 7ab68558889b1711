#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/fleet/fleet.hpp"
#include "daemon/cluster/cluster.hpp"
#include "daemon/metrics/metrics_source.hpp"
#include "daemon/sweep/clock.hpp"

// A cluster, its metrics, its agents and time itself as one deterministic model: a sweep over hours runs in
// milliseconds.

namespace brink::fakes {

/// Time moves when somebody waits.
class FakeClock final : public Clock {
  public:
    [[nodiscard]] double now_s() const override { return now_; }
    [[nodiscard]] std::int64_t unix_ms() const override {
        return 1'700'000'000'000 + static_cast<std::int64_t>(now_ * 1000);
    }
    bool wait_until(double at_s, const std::stop_token& stop) override {
        if (stop.stop_requested()) return false;
        if (at_s > now_) {
            if (on_advance) on_advance(at_s - now_);
            now_ = at_s;
        }
        if (at_time) at_time(now_);
        return !stop.stop_requested();
    }
    std::function<void(double)> on_advance{};  ///< told how many seconds pass
    std::function<void(double)> at_time{};     ///< a test's chance to do something at a moment

  private:
    double now_ = 1000;
};

/// Brokers whose idle falls in proportion to what the fake agents send, to nothing at `capacity_msgs_per_s`.
struct Model {
    explicit Model(int count) : brokers(count) {
        clock.on_advance = [this](double seconds) { pass(seconds); };
    }
    void pass(double seconds) {
        const double idle = std::clamp(1 - load_msgs_per_s * bytes_factor / capacity_msgs_per_s, 0.0, 1.0);
        idle_ns += idle * seconds * 1e9;
        bytes_in += load_msgs_per_s * static_cast<double>(message_bytes) * seconds / brokers;
        messages_in += (load_msgs_per_s + foreign_msgs_per_s) * seconds / brokers;
        bytes_in += foreign_msgs_per_s * foreign_message_bytes * seconds / brokers;
        if (churning && load_msgs_per_s > 0) shrinks += seconds;
    }
    int brokers;
    FakeClock clock;
    double capacity_msgs_per_s = 1'000;
    double bytes_factor = 1;
    double idle_ns = 1e12;
    double bytes_in = 0;
    double messages_in = 0;
    double shrinks = 0;
    double foreign_msgs_per_s = 0;  ///< of other clients
    double foreign_message_bytes = 0;
    std::map<std::string, double> signals{};  ///< more that every broker shows
    std::optional<double> process_start_s{};  ///< of broker 2
    std::string delivery_error{};             ///< what every message fails with
    double load_msgs_per_s = 0;
    std::int64_t message_bytes = 0;
    bool churning = false;
    bool silent_under_load = false;
    double acked_share = 1.0;
    double network_msgs_per_s = 1e12;  ///< what the network threads can do
    double quota_msgs_per_s = 1e12;    ///< above it brokers throttle, and acknowledge no more than this
    double books_late_s = 0;           ///< how long after its end an agent still sends messages of a second
    std::vector<std::string> log{};
};

class FakeMetrics final : public MetricsSource {
  public:
    explicit FakeMetrics(Model& model) : model_(model) {}
    std::vector<Scrape> scrape_all(std::chrono::milliseconds) override {
        std::vector<Scrape> scrapes;
        for (int id = 1; id <= model_.brokers; ++id) {
            if (model_.silent_under_load && model_.load_msgs_per_s > 0 && id == 1) {
                const Scrape silent{id, tl::unexpected(Error{ErrorCode::timed_out, "no answer", {}})};
                scrapes.push_back(silent);
                continue;
            }
            ScrapeReading reading;
            reading.sample.at_s = model_.clock.now_s();
            reading.sample.idle_ns = model_.idle_ns;
            reading.sample.bytes_in = model_.bytes_in;
            reading.sample.messages_in = model_.messages_in;
            if (id == 2) reading.sample.process_start_s = model_.process_start_s;
            reading.sample.isr_shrinks = model_.shrinks;
            reading.sample.isr_expands = 0;
            reading.sample.under_replicated = 0;
            reading.sample.network_idle =
                std::clamp(1 - model_.load_msgs_per_s / model_.network_msgs_per_s, 0.0, 1.0);
            reading.at_unix_ms = model_.clock.unix_ms();
            reading.signals = model_.signals;
            reading.signals["io_idle_ns"] = model_.idle_ns;
            if (const auto offline = model_.signals.find("offline_partitions");
                offline != model_.signals.end())
                reading.sample.offline_partitions = offline->second;
            scrapes.push_back({id, reading});
        }
        return scrapes;
    }
    [[nodiscard]] std::vector<int> broker_ids() const override {
        std::vector<int> ids;
        for (int id = 1; id <= model_.brokers; ++id) ids.push_back(id);
        return ids;
    }

  private:
    Model& model_;
};

class FakeFleet final : public fleet::Fleet {
  public:
    explicit FakeFleet(Model& model) : model_(model) {}
    std::vector<fleet::AgentStatus> status() override {
        return {{.name = "fake", .url = "", .state = "ready"}};
    }
    tl::expected<void, Error> prepare(const std::string& trial, const protocol::TaskSpec& whole) override {
        trial_ = trial;
        spec_ = whole;
        model_.log.push_back("prepare " + std::to_string(whole.producers));
        return {};
    }
    tl::expected<void, Error> start(std::chrono::milliseconds delay) override {
        started_ = model_.clock.now_s() + std::chrono::duration<double>(delay).count();
        model_.load_msgs_per_s = spec_.producers * spec_.rate_each;
        model_.message_bytes = spec_.message_bytes;
        return {};
    }
    std::vector<fleet::AgentReport> reports(std::int64_t since) override {
        protocol::TaskReport report;
        report.trial = trial_;
        report.state = ended ? protocol::TaskState::failed : protocol::TaskState::running;
        report.state_reason = ended ? "lease lapsed" : "";
        const auto elapsed =
            static_cast<std::int64_t>(std::floor(model_.clock.now_s() - started_ - model_.books_late_s));
        for (std::int64_t s = since; s < elapsed; ++s) {
            protocol::SecondFigures second{.second = s};
            second.scheduled = static_cast<std::uint64_t>(std::llround(spec_.producers * spec_.rate_each));
            second.sent = second.scheduled;
            const double offered = spec_.producers * spec_.rate_each;
            const double acked =
                std::min({offered * model_.acked_share, model_.quota_msgs_per_s, model_.network_msgs_per_s});
            second.acked = static_cast<std::uint64_t>(acked + 1e-6);
            if (offered > model_.quota_msgs_per_s) {
                second.throttled_ms = 900.0 * spec_.producers;
                second.throttled_answers = 10;
                second.longest_throttle_ms = 500;
                second.queue_full = second.scheduled - second.acked;
            }
            if (!model_.delivery_error.empty()) second.failed = second.sent, second.acked = 0;
            second.latency.counts.assign(90, 0);
            second.latency.counts[80] = second.acked;
            report.seconds.push_back(second);
        }
        if (!model_.delivery_error.empty()) report.errors = {{model_.delivery_error, "said the broker", 1}};
        return {{"fake", report, spec_.producers}};
    }
    void stop() override {
        if (model_.load_msgs_per_s > 0) model_.log.emplace_back("stop");
        model_.load_msgs_per_s = 0;
    }
    void remove() override { stop(); }
    bool ended = false;  ///< the agent ended its task by itself

  private:
    Model& model_;
    std::string trial_;
    protocol::TaskSpec spec_;
    double started_ = 0;
};

class FakeCluster final : public Cluster {
  public:
    explicit FakeCluster(Model& model) : model_(model) {}
    tl::expected<ClusterInfo, Error> describe(std::chrono::milliseconds) override {
        ClusterInfo info{.cluster_id = "fake", .controller_id = 1};
        for (int id = 1; id <= model_.brokers; ++id)
            info.brokers.push_back({.id = id, .host = "127.0.0.1", .port = 9000 + id});
        return info;
    }
    tl::expected<std::map<std::string, int>, Error> topics(std::chrono::milliseconds) override {
        return topics_;
    }
    tl::expected<void, Error> create_topic(const TopicSpec& topic, std::chrono::milliseconds) override {
        if (topics_.count(topic.name) != 0)
            return tl::unexpected(Error{ErrorCode::conflict, "topic exists", {}});
        topics_[topic.name] = static_cast<int>(topic.replicas.size());
        auto& partitions = layouts_[topic.name] = {};
        for (const auto& replicas : topic.replicas) {
            partitions.push_back({static_cast<int>(partitions.size()), replicas.front(), replicas, replicas});
        }
        model_.log.push_back("create " + topic.name);
        return {};
    }
    tl::expected<std::vector<PartitionInfo>, Error> partitions(const std::string& topic,
                                                               std::chrono::milliseconds) override {
        const auto found = layouts_.find(topic);
        if (found == layouts_.end()) return tl::unexpected(Error{ErrorCode::not_found, "no such topic", {}});
        return found->second;
    }
    tl::expected<std::map<std::string, std::vector<PartitionInfo>>, Error> layout(
        std::chrono::milliseconds) override {
        return layouts_;
    }
    tl::expected<void, Error> delete_topic(const std::string& topic, std::chrono::milliseconds) override {
        model_.log.push_back("delete " + topic);
        topics_.erase(topic);
        layouts_.erase(topic);
        return {};
    }
    tl::expected<std::map<std::string, std::string>, Error> broker_config(
        int, std::chrono::milliseconds) override {
        return config_;
    }
    tl::expected<void, Error> empty_topic(const std::string& topic, std::chrono::milliseconds) override {
        model_.log.push_back("empty " + topic);
        return tl::unexpected(Error{ErrorCode::timed_out, "followers are slow", {}});
    }
    /// Every partition that broker 2 leads goes to another of its replicas, as after its restart.
    void move_leaders_off_broker_2() {
        for (auto& [topic, partitions] : layouts_) {
            for (auto& p : partitions) {
                if (p.leader == 2) p.leader = p.replicas.at(1);
            }
        }
    }
    std::map<std::string, std::string> config_{{"message.max.bytes", "1048588"}};
    std::map<std::string, int> topics_{};
    std::map<std::string, std::vector<PartitionInfo>> layouts_{};

  private:
    Model& model_;
};

}  // namespace brink::fakes

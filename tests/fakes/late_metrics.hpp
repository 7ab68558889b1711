#pragma once
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tests/fakes/fake_cluster.hpp"

namespace brink::fakes {

/// The model's brokers as a Prometheus server would show them: sampled every `interval_s` by somebody else,
/// and to be had only `lag_s` later.
class LateMetrics final : public MetricsSource {
  public:
    LateMetrics(Model& model, double interval_s, double lag_s)
        : model_(model), interval_s_(interval_s), lag_s_(lag_s), due_s_(model.clock.now_s()) {
        model_.clock.on_advance = [this](double seconds) { pass(seconds); };
    }
    std::vector<Scrape> scrape_all(std::chrono::milliseconds) override {
        std::vector<Scrape> scrapes;
        for (const int id : broker_ids()) {
            auto& next = next_[id];
            const auto before = scrapes.size();
            while (next < samples_.size() && samples_[next].sample.at_s <= model_.clock.now_s() - lag_s_) {
                const auto& reading = samples_[next++];
                if (id == silent_broker && reading.sample.at_s >= silent_from_s) continue;
                scrapes.push_back({id, reading});
            }
            if (scrapes.size() > before) continue;
            Scrape none{id, tl::unexpected(Error{ErrorCode::unavailable, "nothing new", {}})};
            none.nothing_new = true;
            scrapes.push_back(none);
        }
        return scrapes;
    }
    [[nodiscard]] std::vector<int> broker_ids() const override {
        std::vector<int> ids;
        for (int id = 1; id <= model_.brokers; ++id) ids.push_back(id);
        return ids;
    }
    [[nodiscard]] double sampling_interval_s() const override { return interval_s_; }
    [[nodiscard]] double late_by_s() const override { return lag_s_ + interval_s_; }

    int silent_broker = 0;
    double silent_from_s = std::numeric_limits<double>::infinity();
    double offline_from_s = std::numeric_limits<double>::infinity();  ///< a partition is

  private:
    /// Time passes in pieces, with a sample at each that is due.
    void pass(double seconds) {
        double at_s = model_.clock.now_s();
        const double to_s = at_s + seconds;
        while (due_s_ <= to_s) {
            model_.pass(due_s_ - at_s);
            at_s = due_s_;
            ScrapeReading reading;
            reading.sample.at_s = at_s;
            reading.sample.idle_ns = model_.idle_ns;
            reading.sample.bytes_in = model_.bytes_in;
            reading.sample.messages_in = model_.messages_in;
            reading.sample.isr_shrinks = model_.shrinks;
            reading.sample.isr_expands = 0;
            reading.sample.under_replicated = 0;
            reading.at_unix_ms = static_cast<std::int64_t>(at_s * 1e3);
            reading.signals = model_.signals;
            reading.signals["io_idle_ns"] = model_.idle_ns;
            if (at_s >= offline_from_s) reading.signals["offline_partitions"] = 1;
            samples_.push_back(reading);
            due_s_ += interval_s_;
        }
        model_.pass(to_s - at_s);
    }

    Model& model_;
    double interval_s_;
    double lag_s_;
    double due_s_;
    std::vector<ScrapeReading> samples_{};
    std::map<int, std::size_t> next_{};
};

}  // namespace brink::fakes

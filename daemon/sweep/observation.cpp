#include "daemon/sweep/observation.hpp"

#include <algorithm>
#include <cmath>

namespace brink {

void Observation::scrape(MetricsSource& metrics, const Clock& clock, std::chrono::milliseconds timeout) {
    const double begun_s = clock.now_s();
    const auto begun_unix_ms = clock.unix_ms();
    for (const auto& scrape : metrics.scrape_all(timeout)) {
        if (scrape.nothing_new) continue;  // says nothing of the broker, neither good nor bad
        ObservedScrape seen{.broker_id = scrape.broker_id, .at_s = begun_s, .at_unix_ms = begun_unix_ms};
        if (scrape.reading) {
            seen.at_s = scrape.reading->sample.at_s;
            seen.at_unix_ms = scrape.reading->at_unix_ms;
            seen.reading = *scrape.reading;
        } else {
            seen.error = scrape.reading.error().message;
            if (scrape.failed_at_s) {
                seen.at_s = *scrape.failed_at_s;
                seen.at_unix_ms += std::llround((seen.at_s - begun_s) * 1e3);
            }
        }
        scrapes_.push_back(std::move(seen));
    }
}

std::vector<BrokerWindow> Observation::between(double from_s, double to_s) const {
    std::vector<BrokerWindow> windows;
    for (const int id : broker_ids_) {
        BrokerWindow window{.broker_id = id, .samples = {}};
        for (const auto& scrape : scrapes_) {
            if (scrape.broker_id != id || scrape.at_s < from_s || scrape.at_s > to_s) continue;
            if (scrape.reading) {
                window.samples.push_back(scrape.reading->sample);
                window.samples.back().at_unix_s = static_cast<double>(scrape.at_unix_ms) / 1e3;
            } else {
                ++window.missed;
                window.last_error = scrape.error;
            }
        }
        windows.push_back(std::move(window));
    }
    return windows;
}

std::map<int, ScrapeReading> Observation::latest() const {
    std::map<int, ScrapeReading> newest;
    for (auto scrape = scrapes_.rbegin(); scrape != scrapes_.rend(); ++scrape) {
        if (newest.size() == broker_ids_.size()) break;
        if (scrape->reading) newest.emplace(scrape->broker_id, *scrape->reading);
    }
    return newest;
}

std::vector<int> Observation::without_reading_from(double at_s) const {
    std::vector<int> behind;
    for (const int id : broker_ids_) {
        const bool reached = std::any_of(scrapes_.begin(), scrapes_.end(), [&](const ObservedScrape& scrape) {
            return scrape.broker_id == id && scrape.reading && scrape.at_s >= at_s;
        });
        if (!reached) behind.push_back(id);
    }
    return behind;
}

}  // namespace brink

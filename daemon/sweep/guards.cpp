#include "daemon/sweep/guards.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace brink {
namespace {

constexpr const char* kOffline = "offline_partitions";
constexpr const char* kUnderMinIsr = "under_min_isr";
constexpr const char* kLogDisk = "log_disk_share";

/// What a batch of one message adds to its payload, generously.
constexpr double kOverheadBytes = 128;
constexpr double kSmallMessage = 100;
constexpr double kLargeMessage = 1000;
constexpr double kForeignShare = 0.01;
constexpr double kSettle_s = 5;

struct Reading {
    double value = 0;
    int broker_id = 0;
};

std::vector<Reading> readings_of(const LatestReadings& readings, const std::string& signal) {
    std::vector<Reading> found;
    for (const auto& [broker, reading] : readings) {
        const auto at = reading.signals.find(signal);
        if (at != reading.signals.end()) found.push_back({at->second, broker});
    }
    return found;
}

std::optional<Reading> highest(const std::vector<Reading>& readings) {
    if (readings.empty()) return std::nullopt;
    return *std::max_element(readings.begin(), readings.end(),
                             [](const Reading& a, const Reading& b) { return a.value < b.value; });
}

std::optional<GuardTrip> signal_guard(const SignalGuard& guard, const LatestReadings& readings) {
    for (const auto& reading : readings_of(readings, guard.name)) {
        const bool over = guard.above && reading.value > *guard.above;
        const bool under = guard.below && reading.value < *guard.below;
        if (!over && !under) continue;
        return GuardTrip{
            fmt::format("{} of broker {} is {:.6g}, {} the mark {:.6g} of clusters.guards.signal", guard.name,
                        reading.broker_id, reading.value, over ? "above" : "below",
                        over ? *guard.above : *guard.below),
            guard.ends_sweep};
    }
    return std::nullopt;
}

}  // namespace

std::optional<Traffic> traffic_of(const LatestReadings& readings) {
    Traffic sum;
    for (const auto& [broker, reading] : readings) {
        if (!reading.sample.bytes_in || !reading.sample.messages_in) return std::nullopt;
        sum.bytes += *reading.sample.bytes_in;
        sum.messages += *reading.sample.messages_in;
    }
    if (readings.empty()) return std::nullopt;
    return sum;
}

double foreign_bytes(const Traffic& since, const Traffic& now, const OwnTraffic& own) {
    const double bytes = now.bytes - since.bytes;
    const double messages = now.messages - since.messages;
    const double by_bytes = bytes - own.messages * (static_cast<double>(own.message_bytes) + kOverheadBytes);
    const double others = messages - own.messages;
    const double by_messages =
        others > 0 ? others * std::clamp(bytes / messages, kSmallMessage, kLargeMessage) : 0;
    return std::max({0.0, by_bytes, by_messages});
}

std::optional<GuardTrip> foreign_guard(double bytes, double seconds, const OwnTraffic& own,
                                       double mark_bytes_per_s) {
    if (seconds < kSettle_s) return std::nullopt;
    const double ours = own.messages * static_cast<double>(own.message_bytes) / seconds;
    const double mark = std::max(mark_bytes_per_s, kForeignShare * ours);
    if (bytes / seconds <= mark) return std::nullopt;
    return GuardTrip{fmt::format("other clients send at least {:.2f} MB/s (mark {:.2f}) while the trial runs",
                                 bytes / seconds / 1e6, mark / 1e6),
                     false};
}

std::optional<GuardTrip> guard_on(const GuardConfig& guards, const LatestReadings& readings) {
    // Only the active controller counts offline partitions; the others show 0.
    if (const auto offline = highest(readings_of(readings, kOffline));
        offline && offline->value > guards.offline_partitions_above) {
        return GuardTrip{fmt::format("{:.0f} partitions of the cluster are offline (mark {:.0f})",
                                     offline->value, guards.offline_partitions_above),
                         true};
    }
    if (const auto disk = highest(readings_of(readings, kLogDisk));
        disk && disk->value > guards.log_disk_share_above) {
        return GuardTrip{fmt::format("the log disk of broker {} is {:.0f} % full (mark {:.0f} %)",
                                     disk->broker_id, disk->value * 100, guards.log_disk_share_above * 100),
                         true};
    }
    double under_min_isr = 0;
    for (const auto& reading : readings_of(readings, kUnderMinIsr)) under_min_isr += reading.value;
    if (under_min_isr > guards.under_min_isr_above) {
        return GuardTrip{fmt::format("{:.0f} partitions have fewer replicas in sync than min.insync.replicas "
                                     "(mark {:.0f})",
                                     under_min_isr, guards.under_min_isr_above),
                         false};
    }
    for (const auto& guard : guards.signals) {
        if (auto trip = signal_guard(guard, readings)) return trip;
    }
    return std::nullopt;
}

std::vector<std::string> unwatched(const GuardConfig& guards, const LatestReadings& readings) {
    std::vector<std::string> missing;
    const auto need = [&](const std::string& what, const std::string& signal) {
        if (readings_of(readings, signal).empty())
            missing.push_back(fmt::format("{} (no broker shows {})", what, signal));
    };
    need("offline partitions", kOffline);
    need("partitions under min ISR", kUnderMinIsr);
    need("log disks", kLogDisk);
    if (!traffic_of(readings))
        missing.emplace_back(
            "foreign traffic during trials (needs bytes_in and messages_in of every broker)");
    for (const auto& guard : guards.signals) need("clusters.guards.signal " + guard.name, guard.name);
    return missing;
}

}  // namespace brink

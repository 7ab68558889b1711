#include "deploy/sim/broker_load.hpp"

#include <algorithm>
#include <cmath>

namespace brink::sim {
namespace {

/// What waits is bounded by what clients keep in flight, as it is at a real broker; this only keeps a client
/// without such a bound from burying the broker for good.
constexpr double kLongestQueue_s = 30;
/// Weight of one second in a one-minute average.
const double kMinuteWeight = 1 - std::exp(-1.0 / 60);
/// A follower that was dropped catches up and is dropped again about this often.
constexpr double kFlap_s = 2;

}  // namespace

BrokerLoad::BrokerLoad(const CapacityModel& model, int broker, double now_s)
    : model_(model),
      random_(model.seed * 1'000'003 + static_cast<std::uint64_t>(broker)),
      now_s_(now_s),
      started_s_(now_s),
      second_ends_s_(now_s + 1) {
    draw_noise();
}

void BrokerLoad::arrive(double now_s, double requests, double messages, double bytes) {
    advance(now_s);
    counters_.requests += requests;
    counters_.messages += messages;
    counters_.bytes += bytes;
    const double work = slow_ * noise_ * thread_seconds(model_, requests, messages, bytes);
    waiting_ = std::min(waiting_ + work, kLongestQueue_s * model_.io_threads);
}

BrokerCounters BrokerLoad::at(double now_s) {
    advance(now_s);
    auto seen = counters_;
    seen.idle_ns += idle_in_second_ * 1e9;
    const double age = now_s_ - started_s_;
    seen.idle_mean = age > 0 ? seen.idle_ns / 1e9 / age : 1;
    return seen;
}

double BrokerLoad::wait_s(double now_s) {
    advance(now_s);
    return waiting_ / model_.io_threads;
}

void BrokerLoad::restart(double now_s) {
    advance(now_s);
    const double throttle = counters_.throttle_ms;
    counters_ = {};
    counters_.throttle_ms = throttle;
    started_s_ = now_s_;
    second_ends_s_ = now_s_ + 1;
    idle_in_second_ = 0;
    waiting_ = 0;
    overtaxed_s_ = 0;
    out_of_sync_ = false;
}

void BrokerLoad::advance(double now_s) {
    while (now_s_ < now_s) {
        const double step = std::min(now_s, second_ends_s_) - now_s_;
        const double done = std::min(waiting_, step * model_.io_threads);
        waiting_ -= done;
        idle_in_second_ += step - done / model_.io_threads;
        now_s_ += step;
        if (now_s_ >= second_ends_s_) finish_second();
    }
}

void BrokerLoad::finish_second() {
    const double idle = idle_in_second_;
    counters_.idle_ns += idle * 1e9;
    counters_.idle_one_minute += kMinuteWeight * (idle - counters_.idle_one_minute);
    busy_ = 1 - idle;
    idle_in_second_ = 0;
    second_ends_s_ += 1;
    draw_noise();
    follow(busy_);
}

void BrokerLoad::draw_noise() {
    std::normal_distribution<double> wobble(1, model_.noise);
    noise_ = model_.noise > 0 ? std::max(0.0, wobble(random_)) : 1;
}

void BrokerLoad::follow(double busy) {
    if (model_.churn_above_busy <= 0) return;
    const double fall_behind = partitions_;
    if (busy <= model_.churn_above_busy) {
        overtaxed_s_ = 0;
        if (out_of_sync_) counters_.isr_expands += fall_behind;
        out_of_sync_ = false;
    } else {
        overtaxed_s_ += 1;
        const double beyond = overtaxed_s_ - model_.churn_lag_s;
        if (beyond >= 0) {
            const bool drop = std::fmod(beyond, 2 * kFlap_s) < kFlap_s;
            if (drop && !out_of_sync_) counters_.isr_shrinks += fall_behind;
            if (!drop && out_of_sync_) counters_.isr_expands += fall_behind;
            out_of_sync_ = drop;
        }
    }
    counters_.under_replicated = out_of_sync_ ? fall_behind : 0;
}

}  // namespace brink::sim

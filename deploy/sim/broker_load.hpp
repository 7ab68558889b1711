#pragma once
#include <array>
#include <cstdint>
#include <random>

#include "deploy/sim/capacity_model.hpp"

namespace brink::sim {

/// What a broker's metrics endpoint shows. Counters grow until the broker restarts.
struct BrokerCounters {
    double idle_ns = 0;          ///< idle time of the handler pool, averaged over its threads
    double idle_one_minute = 1;  ///< the smoothed share that lags behind, as real brokers show it
    double idle_mean = 1;        ///< share since the broker started
    double messages = 0;
    double bytes = 0;
    double requests = 0;
    double isr_shrinks = 0;
    double isr_expands = 0;
    double under_replicated = 0;  ///< partitions, now
    double throttle_ms = 0;       ///< how long produce requests are held back by a quota, now
};

/// One broker's IO threads as a queue: work arrives in thread-seconds, `io_threads` of it are done per
/// second, and the threads are idle while nothing waits. Time is passed in; not thread-safe.
class BrokerLoad {
  public:
    /// `broker` makes the noise of each broker its own. `partitions` is what can fall out of sync.
    BrokerLoad(const CapacityModel& model, int broker, double now_s);

    /// Work that came in at `now_s`. It costs `slow()` times as much, and the noise of the second.
    void arrive(double now_s, double requests, double messages, double bytes);
    /// The counters at `now_s`, which must not go back.
    BrokerCounters at(double now_s);
    /// Seconds that a request arriving at `now_s` waits for a thread.
    double wait_s(double now_s);
    /// Busy share over the last whole second.
    [[nodiscard]] double busy() const { return busy_; }
    /// What the broker leads; they fall out of sync when its followers cannot keep up.
    void lead(int partitions) { partitions_ = partitions; }
    void slow(double factor) { slow_ = factor; }
    [[nodiscard]] double slow() const { return slow_; }
    void throttle(double ms) { counters_.throttle_ms = ms; }
    /// Counters back to 0 and nothing waiting, as after a restart.
    void restart(double now_s);

  private:
    void advance(double now_s);
    void finish_second();
    void draw_noise();
    void follow(double busy);

    CapacityModel model_;
    std::mt19937_64 random_;
    BrokerCounters counters_;
    double now_s_;
    double started_s_;
    double second_ends_s_;
    double idle_in_second_ = 0;  ///< seconds
    double waiting_ = 0;         ///< thread-seconds
    double busy_ = 0;
    double slow_ = 1;
    double noise_ = 1;        ///< factor on the costs in this second
    double overtaxed_s_ = 0;  ///< how long the followers have not kept up
    bool out_of_sync_ = false;
    int partitions_ = 0;
};

}  // namespace brink::sim

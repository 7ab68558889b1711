#pragma once
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "deploy/sim/broker_load.hpp"
#include "deploy/sim/mock_cluster.hpp"
#include "deploy/sim/shape_memory.hpp"

namespace brink::sim {

/// Something that goes wrong with one broker until `until_s`.
struct Fault {
    enum class Kind { silent, restart, slow, throttle };
    int broker = 0;
    Kind kind = Kind::silent;
    /// slow: what work costs, as a multiple; throttle: milliseconds each answer is held back.
    double amount = 1;
    double for_s = 10;
    double until_s = 0;  ///< set by the cluster
};

/// The true boundary for one size, and what it was computed from.
struct Truth {
    double msgs_per_s = 0;
    TrafficShape shape{};
    bool shape_observed = false;  ///< false: taken to be lone messages, since none were seen yet
};

/// Mock brokers behind the capacity model: turns the traffic that really arrives into idle time, counters and
/// added latency. Thread-safe.
class EmbeddedCluster {
  public:
    /// Errors: as MockCluster::start.
    static tl::expected<std::unique_ptr<EmbeddedCluster>, Error> start(const CapacityModel& model,
                                                                       int brokers);
    ~EmbeddedCluster();
    EmbeddedCluster(const EmbeddedCluster&) = delete;
    EmbeddedCluster& operator=(const EmbeddedCluster&) = delete;

    [[nodiscard]] const std::vector<BrokerAddress>& brokers() const { return mock_->brokers(); }
    [[nodiscard]] std::string bootstrap_servers() const { return mock_->bootstrap_servers(); }
    [[nodiscard]] const CapacityModel& model() const { return model_; }

    /// A topic as a client of the control interface sees it: the leader of each partition.
    struct Topic {
        std::vector<int> leaders;
        int replication_factor = 1;
    };
    /// Errors: conflict (exists; also a name that was deleted, which the mock keeps), invalid_input.
    tl::expected<void, Error> create_topic(const std::string& name, const Topic& topic);
    [[nodiscard]] std::map<std::string, Topic> topics() const;
    /// Errors: not_found.
    tl::expected<void, Error> delete_topic(const std::string& name);

    /// What the metrics endpoint of a broker shows now; nothing while it is silent (waits for up to
    /// `patience_s`, as a hung exporter would).
    std::optional<BrokerCounters> counters(int broker, double patience_s);
    [[nodiscard]] Truth truth(double message_bytes, double idle_below) const;

    /// Errors: invalid_input (no such broker, amounts out of range).
    tl::expected<void, Error> inject(Fault fault);
    [[nodiscard]] std::vector<Fault> faults() const;
    void clear_faults();

  private:
    EmbeddedCluster(const CapacityModel& model, int brokers);
    void on_event(const MockEvent& event);
    /// What the mock has to be told. It is told without the lock: its thread waits for us in `on_event`.
    struct Orders {
        std::vector<std::pair<int, int>> delays_ms;
        std::vector<std::pair<int, bool>> up;
    };
    Orders tick();
    void run(const std::stop_token& stop);
    void apply_faults(double now_s, Orders& orders);
    void count_leaders();
    [[nodiscard]] bool silent(int broker, double now_s) const;

    CapacityModel model_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<BrokerLoad> loads_;  ///< by broker id − 1
    std::map<std::string, Topic> topics_;
    std::vector<Fault> faults_;
    std::vector<int> delays_ms_;
    std::vector<bool> up_;
    ShapeMemory shapes_;
    ShapeMemory::Second second_;
    double second_ends_s_ = 0;
    std::unique_ptr<MockCluster> mock_;
    std::jthread ticker_;
};

}  // namespace brink::sim

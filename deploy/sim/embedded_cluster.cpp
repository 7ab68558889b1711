#include "deploy/sim/embedded_cluster.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace brink::sim {
namespace {

constexpr std::chrono::milliseconds kTick{50};
/// Answers are held back only once a broker is saturated, and in steps: each order to the mock interrupts its
/// traffic, and shorter waits change too quickly to be told.
constexpr int kDelayStep_ms = 100;
/// The mock holds every answer back alike, so clients that wait for the whole queue would all come back at
/// once to find it empty; real ones come back one by one. Half the wait keeps a saturated broker busy.
constexpr double kDelayedShare = 0.5;

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Error invalid(std::string message) { return Error{ErrorCode::invalid_input, std::move(message), {}}; }

}  // namespace

EmbeddedCluster::EmbeddedCluster(const CapacityModel& model, int brokers)
    : model_(model),
      delays_ms_(static_cast<std::size_t>(brokers), 0),
      up_(static_cast<std::size_t>(brokers), true),
      second_ends_s_(now_s() + 1) {
    for (int id = 1; id <= brokers; ++id) loads_.emplace_back(model, id, now_s());
}

tl::expected<std::unique_ptr<EmbeddedCluster>, Error> EmbeddedCluster::start(const CapacityModel& model,
                                                                             int brokers) {
    std::unique_ptr<EmbeddedCluster> cluster(new EmbeddedCluster(model, brokers));
    auto mock = MockCluster::start(brokers,
                                   [self = cluster.get()](const MockEvent& event) { self->on_event(event); });
    if (!mock) return tl::unexpected(mock.error());
    cluster->mock_ = std::move(*mock);
    cluster->ticker_ = std::jthread([self = cluster.get()](const std::stop_token& stop) { self->run(stop); });
    return cluster;
}

EmbeddedCluster::~EmbeddedCluster() {
    ticker_.request_stop();
    changed_.notify_all();
}

void EmbeddedCluster::on_event(const MockEvent& event) {
    const std::lock_guard lock(mutex_);
    const auto index = static_cast<std::size_t>(event.broker - 1);
    if (index >= loads_.size()) return;
    const bool request = event.kind == MockEvent::Kind::produce_request;
    const auto messages = static_cast<double>(event.messages);
    const auto bytes = static_cast<double>(event.bytes);
    loads_[index].arrive(now_s(), request ? 1 : 0, messages, bytes);
    second_.requests += request ? 1 : 0;
    second_.batches += request ? 0 : 1;
    second_.messages += messages;
    second_.bytes += bytes;
}

void EmbeddedCluster::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        Orders orders;
        {
            std::unique_lock lock(mutex_);
            changed_.wait_for(lock, stop, kTick, [] { return false; });
            orders = tick();
        }
        for (const auto& [broker, ms] : orders.delays_ms) mock_->delay(broker, ms);
        for (const auto& [broker, up] : orders.up) mock_->up(broker, up);
    }
}

EmbeddedCluster::Orders EmbeddedCluster::tick() {
    Orders orders;
    const double now = now_s();
    apply_faults(now, orders);
    double busiest = 0;
    for (std::size_t i = 0; i < loads_.size(); ++i) {
        const auto seen = loads_[i].at(now);
        busiest = std::max(busiest, loads_[i].busy());
        const int waits = static_cast<int>(loads_[i].wait_s(now) * kDelayedShare * 1'000);
        const int delay = waits / kDelayStep_ms * kDelayStep_ms + static_cast<int>(seen.throttle_ms);
        if (std::exchange(delays_ms_[i], delay) != delay)
            orders.delays_ms.emplace_back(static_cast<int>(i) + 1, delay);
    }
    if (now >= second_ends_s_) {
        second_.busiest = busiest;
        shapes_.remember(std::exchange(second_, {}));
        second_ends_s_ = now + 1;
    }
    return orders;
}

void EmbeddedCluster::apply_faults(double now, Orders& orders) {
    const auto over = std::remove_if(faults_.begin(), faults_.end(),
                                     [&](const Fault& fault) { return fault.until_s <= now; });
    if (over != faults_.end()) {
        faults_.erase(over, faults_.end());
        changed_.notify_all();
    }
    for (std::size_t i = 0; i < loads_.size(); ++i) {
        double slow = 1;
        double throttle = 0;
        bool up = true;
        for (const auto& fault : faults_) {
            if (fault.broker != static_cast<int>(i) + 1) continue;
            if (fault.kind == Fault::Kind::slow) slow *= fault.amount;
            if (fault.kind == Fault::Kind::throttle) throttle += fault.amount;
            if (fault.kind == Fault::Kind::restart) up = false;
        }
        loads_[i].slow(slow);
        loads_[i].throttle(throttle);
        if (up_[i] == up) continue;
        up_[i] = up;
        orders.up.emplace_back(static_cast<int>(i) + 1, up);
        if (!up) loads_[i].restart(now);
    }
}

bool EmbeddedCluster::silent(int broker, double now) const {
    return std::any_of(faults_.begin(), faults_.end(), [&](const Fault& fault) {
        const bool hides = fault.kind == Fault::Kind::silent || fault.kind == Fault::Kind::restart;
        return hides && fault.broker == broker && fault.until_s > now;
    });
}

std::optional<BrokerCounters> EmbeddedCluster::counters(int broker, double patience_s) {
    std::unique_lock lock(mutex_);
    const auto index = static_cast<std::size_t>(broker - 1);
    if (index >= loads_.size()) return std::nullopt;
    const auto heard = changed_.wait_for(lock, std::chrono::duration<double>(patience_s),
                                         [&] { return !silent(broker, now_s()); });
    if (!heard) return std::nullopt;
    return loads_[index].at(now_s());
}

Truth EmbeddedCluster::truth(double message_bytes, double idle_below) const {
    const std::lock_guard lock(mutex_);
    Truth truth;
    const auto observed = shapes_.of(message_bytes);
    truth.shape_observed = observed.has_value();
    truth.shape = observed.value_or(lone_messages(message_bytes));
    double slowest = 1;
    for (const auto& load : loads_) slowest = std::max(slowest, load.slow());
    truth.msgs_per_s =
        true_messages_per_s(model_, truth.shape, static_cast<int>(loads_.size()), idle_below, slowest);
    return truth;
}

tl::expected<void, Error> EmbeddedCluster::create_topic(const std::string& name, const Topic& topic) {
    for (const int leader : topic.leaders) {
        if (leader < 1 || leader > static_cast<int>(loads_.size()))
            return tl::unexpected(invalid("leader " + std::to_string(leader) +
                                          " is no broker: they are 1 to " + std::to_string(loads_.size())));
    }
    if (auto made = mock_->create_topic(name, topic.leaders, topic.replication_factor); !made) return made;
    const std::lock_guard lock(mutex_);
    topics_[name] = topic;
    count_leaders();
    return {};
}

std::map<std::string, EmbeddedCluster::Topic> EmbeddedCluster::topics() const {
    const std::lock_guard lock(mutex_);
    return topics_;
}

tl::expected<void, Error> EmbeddedCluster::delete_topic(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (topics_.erase(name) == 0)
        return tl::unexpected(Error{ErrorCode::not_found, "there is no topic '" + name + "'", {}});
    count_leaders();
    return {};
}

void EmbeddedCluster::count_leaders() {
    std::vector<int> led(loads_.size(), 0);
    for (const auto& [name, topic] : topics_)
        for (const int leader : topic.leaders) ++led[static_cast<std::size_t>(leader - 1)];
    for (std::size_t i = 0; i < loads_.size(); ++i) loads_[i].lead(led[i]);
}

tl::expected<void, Error> EmbeddedCluster::inject(Fault fault) {
    const std::lock_guard lock(mutex_);
    if (fault.broker < 1 || fault.broker > static_cast<int>(loads_.size()))
        return tl::unexpected(invalid("broker " + std::to_string(fault.broker) + " is none: they are 1 to " +
                                      std::to_string(loads_.size())));
    if (fault.kind == Fault::Kind::slow && fault.amount < 1)
        return tl::unexpected(invalid("a slow broker needs an amount of at least 1 (times the cost)"));
    fault.until_s = now_s() + fault.for_s;
    faults_.push_back(fault);
    return {};
}

std::vector<Fault> EmbeddedCluster::faults() const {
    const std::lock_guard lock(mutex_);
    return faults_;
}

void EmbeddedCluster::clear_faults() {
    const std::lock_guard lock(mutex_);
    faults_.clear();
    changed_.notify_all();
}

}  // namespace brink::sim

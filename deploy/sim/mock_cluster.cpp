#include "deploy/sim/mock_cluster.hpp"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <thread>

namespace brink::sim {
namespace {

template <auto destroy>
struct Deleter {
    template <class T>
    void operator()(T* handle) const {
        destroy(handle);
    }
};
using Client = std::unique_ptr<rd_kafka_t, Deleter<rd_kafka_destroy>>;
using Mock = std::unique_ptr<rd_kafka_mock_cluster_t, Deleter<rd_kafka_mock_cluster_destroy>>;
using Conf = std::unique_ptr<rd_kafka_conf_t, Deleter<rd_kafka_conf_destroy>>;
using Topic = std::unique_ptr<rd_kafka_topic_t, Deleter<rd_kafka_topic_destroy>>;

constexpr int kDebugLevel = 7;
constexpr const char* kProofTopic = "brink-sim-proof";
constexpr std::size_t kOrdersAtOnce = 64;
constexpr int kProofWithin_ms = 5'000;

Error internal(std::string message) { return Error{ErrorCode::internal, std::move(message), {}}; }

tl::expected<Client, Error> make_client(const std::vector<std::pair<std::string, std::string>>& properties,
                                        void (*log)(const rd_kafka_t*, int, const char*, const char*),
                                        void* opaque) {
    std::array<char, 512> fault{};
    Conf conf(rd_kafka_conf_new());
    for (const auto& [key, value] : properties) {
        if (rd_kafka_conf_set(conf.get(), key.c_str(), value.c_str(), fault.data(), fault.size()) !=
            RD_KAFKA_CONF_OK)
            return tl::unexpected(internal(fault.data()));
    }
    rd_kafka_conf_set_log_cb(conf.get(), log);
    rd_kafka_conf_set_opaque(conf.get(), opaque);
    Client client(rd_kafka_new(RD_KAFKA_PRODUCER, conf.get(), fault.data(), fault.size()));
    if (!client) return tl::unexpected(internal(fault.data()));
    (void)conf.release();  // the client owns it now
    return client;
}

std::vector<BrokerAddress> addresses_in(std::string_view bootstraps) {
    std::vector<BrokerAddress> found;
    while (!bootstraps.empty()) {
        const auto one = bootstraps.substr(0, bootstraps.find(','));
        const auto colon = one.rfind(':');
        BrokerAddress address{static_cast<int>(found.size()) + 1, std::string(one.substr(0, colon)), 0};
        if (colon != std::string_view::npos)
            std::from_chars(one.data() + colon + 1, one.data() + one.size(), address.port);
        found.push_back(address);
        bootstraps.remove_prefix(std::min(bootstraps.size(), one.size() + 1));
    }
    return found;
}

}  // namespace

struct MockCluster::Impl {
    Listener listener;
    /// What the proof of the log has seen; afterwards everything goes to the listener.
    std::atomic<bool> proving{true};
    std::atomic<int> proof_requests{0};
    std::atomic<int> proof_messages{0};
    std::vector<BrokerAddress> brokers;
    Client client;
    Mock mock;  // goes before the client that it lives in

    void heard(std::string_view line) {
        const auto event = read_mock_log(line);
        if (!event) return;
        if (!proving) {
            listener(*event);
        } else if (event->kind == MockEvent::Kind::produce_request) {
            ++proof_requests;
        } else if (event->bytes > 0) {
            proof_messages += static_cast<int>(event->messages);
        }
    }

    static void on_log(const rd_kafka_t* client, int, const char*, const char* line) {
        if (auto* self = static_cast<Impl*>(rd_kafka_opaque(client))) self->heard(line);
    }

    [[nodiscard]] tl::expected<void, Error> prove() const;
};

tl::expected<std::unique_ptr<MockCluster>, Error> MockCluster::start(int brokers, Listener listener) {
    auto impl = std::make_unique<Impl>();
    impl->listener = std::move(listener);
    auto client = make_client({{"debug", "mock"}, {"log_level", std::to_string(kDebugLevel)}}, &Impl::on_log,
                              impl.get());
    if (!client) return tl::unexpected(client.error().within("starting the mock cluster"));
    impl->client = std::move(*client);
    impl->mock.reset(rd_kafka_mock_cluster_new(impl->client.get(), brokers));
    if (!impl->mock)
        return tl::unexpected(internal("librdkafka cannot start a mock cluster of " +
                                       std::to_string(brokers) + " brokers: free ports on loopback?"));
    impl->brokers = addresses_in(rd_kafka_mock_cluster_bootstraps(impl->mock.get()));
    if (auto proven = impl->prove(); !proven) return tl::unexpected(proven.error());
    impl->proving = false;
    return std::unique_ptr<MockCluster>(new MockCluster(std::move(impl)));
}

tl::expected<void, Error> MockCluster::Impl::prove() const {
    auto producer =
        make_client({{"bootstrap.servers", rd_kafka_mock_cluster_bootstraps(mock.get())}}, nullptr, nullptr);
    if (!producer) return tl::unexpected(producer.error());
    rd_kafka_mock_topic_create(mock.get(), kProofTopic, 1, 1);
    const std::string_view value = "proof";
    // Not `producev`: its macros are GNU extensions, which clang refuses under -Wpedantic.
    Topic topic(rd_kafka_topic_new(producer->get(), kProofTopic, nullptr));
    rd_kafka_produce(topic.get(), 0, RD_KAFKA_MSG_F_COPY, const_cast<char*>(value.data()), value.size(),
                     nullptr, 0, nullptr);
    rd_kafka_flush(producer->get(), kProofWithin_ms);
    if (proof_requests == 1 && proof_messages == 1) return {};
    return tl::unexpected(internal(
        std::string("librdkafka ") + rd_kafka_version_str() + " told of " + std::to_string(proof_requests) +
        " produce requests and " + std::to_string(proof_messages) +
        " messages where one of each was sent: brink-sim reads the mock cluster's debug log as version 2.0 "
        "writes it"));
}

MockCluster::MockCluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MockCluster::~MockCluster() = default;

const std::vector<BrokerAddress>& MockCluster::brokers() const { return impl_->brokers; }
std::string MockCluster::bootstrap_servers() const {
    return rd_kafka_mock_cluster_bootstraps(impl_->mock.get());
}

tl::expected<void, Error> MockCluster::create_topic(const std::string& name, const std::vector<int>& leaders,
                                                    int replication_factor) {
    const auto code = rd_kafka_mock_topic_create(impl_->mock.get(), name.c_str(),
                                                 static_cast<int>(leaders.size()), replication_factor);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return tl::unexpected(Error{
            code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS ? ErrorCode::conflict : ErrorCode::invalid_input,
            "topic '" + name + "' cannot be created: " + rd_kafka_err2str(code) +
                " (a client that asks for the metadata of an unknown topic creates it; use another name)",
            {}});
    // An idle mock cluster takes up to a second to look at an order, and then takes all that wait: one after
    // the other, 30 partitions were seen to need 10 s.
    std::vector<std::jthread> orders;
    for (std::size_t first = 0; first < std::min(kOrdersAtOnce, leaders.size()); ++first) {
        orders.emplace_back([&, first] {
            for (auto p = first; p < leaders.size(); p += kOrdersAtOnce)
                rd_kafka_mock_partition_set_leader(impl_->mock.get(), name.c_str(),
                                                   static_cast<std::int32_t>(p), leaders[p]);
        });
    }
    orders.clear();
    return {};
}

void MockCluster::delay(int broker, int ms) { rd_kafka_mock_broker_set_rtt(impl_->mock.get(), broker, ms); }

void MockCluster::up(int broker, bool up) {
    if (up)
        rd_kafka_mock_broker_set_up(impl_->mock.get(), broker);
    else
        rd_kafka_mock_broker_set_down(impl_->mock.get(), broker);
}

}  // namespace brink::sim

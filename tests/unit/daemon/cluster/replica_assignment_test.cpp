#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "daemon/cluster/cluster.hpp"

using namespace brink;

namespace {

/// Brokers with these rack sizes (0: a broker without a rack) and ids that are not contiguous.
std::vector<BrokerInfo> brokers_in(const std::vector<int>& rack_sizes) {
    std::vector<BrokerInfo> brokers;
    int id = 3;
    for (std::size_t rack = 0; rack < rack_sizes.size(); ++rack) {
        for (int i = 0; i < std::max(1, rack_sizes[rack]); ++i) {
            brokers.push_back(
                {id, "host", 9092, rack_sizes[rack] == 0 ? "" : "rack-" + std::to_string(rack)});
            id += 7;
        }
    }
    return brokers;
}

struct Counts {
    std::map<int, int> leads, follows;
    std::map<std::pair<int, int>, int> pairs;  ///< partitions that two brokers share
};

/// Checks what holds for every assignment and counts the rest.
Counts counts_of(const std::vector<BrokerInfo>& brokers, int per_broker, int factor) {
    const auto assigned = assign_replicas(brokers, per_broker, factor);
    REQUIRE(assigned);
    REQUIRE(assigned->size() == brokers.size() * static_cast<std::size_t>(per_broker));
    std::map<int, std::string> rack;
    std::map<std::string, int> rack_size;
    Counts counts;
    for (const auto& broker : brokers) {
        rack[broker.id] = broker.rack.empty() ? std::to_string(broker.id) : broker.rack;
        ++rack_size[rack[broker.id]];
        counts.leads[broker.id] = counts.follows[broker.id] = 0;
    }
    // The most that one rack must hold of a partition, were all racks filled evenly.
    int most = 0;
    for (int held = 0; held < factor;) {
        ++most;
        held = 0;
        for (const auto& [name, size] : rack_size) held += std::min(size, most);
    }
    for (const auto& replicas : *assigned) {
        REQUIRE(replicas.size() == static_cast<std::size_t>(factor));
        REQUIRE(std::set<int>(replicas.begin(), replicas.end()).size() == replicas.size());
        std::map<std::string, int> in_rack;
        for (const int id : replicas) {
            REQUIRE(rack.contains(id));
            ++in_rack[rack[id]];
        }
        for (const auto& [name, size] : rack_size) {
            REQUIRE(in_rack[name] <= most);
            REQUIRE(in_rack[name] >= std::min(size, most - 1));
        }
        ++counts.leads[replicas.front()];
        for (std::size_t i = 1; i < replicas.size(); ++i) ++counts.follows[replicas[i]];
        for (const int a : replicas) {
            for (const int b : replicas) {
                if (a < b) ++counts.pairs[{a, b}];
            }
        }
    }
    for (const auto& [id, leads] : counts.leads) REQUIRE(leads == per_broker);
    return counts;
}

/// Whether racks of these sizes leave room for equal followers.
bool can_be_equal(const std::vector<BrokerInfo>& brokers, int factor) {
    std::map<std::string, int> size;
    for (const auto& b : brokers) ++size[b.rack.empty() ? std::to_string(b.id) : b.rack];
    const int first = size.begin()->second;
    if (std::all_of(size.begin(), size.end(), [&](const auto& rack) { return rack.second == first; }))
        return true;
    if (static_cast<int>(size.size()) < factor)
        return false;  // some mixtures could; the rules ask it of none
    return std::all_of(size.begin(), size.end(), [&](const auto& rack) {
        return rack.second * factor <= static_cast<int>(brokers.size());
    });
}

void require_equal_followers(const Counts& counts, int per_broker, int factor) {
    for (const auto& [id, follows] : counts.follows) REQUIRE(follows == per_broker * (factor - 1));
}

}  // namespace

TEST_CASE("assign_replicas: three brokers without racks lead and follow equally") {
    const auto brokers = brokers_in({0, 0, 0});
    const auto counts = counts_of(brokers, 10, 3);
    require_equal_followers(counts, 10, 3);
    const auto assigned = assign_replicas(brokers, 10, 3);
    for (std::size_t p = 0; p < assigned->size(); ++p) CHECK((*assigned)[p].front() == brokers[p % 3].id);
}

TEST_CASE("assign_replicas: any number of brokers without racks, any replication factor") {
    for (int n = 1; n <= 50; n += n < 12 ? 1 : 7) {
        const auto brokers = brokers_in(std::vector<int>(static_cast<std::size_t>(n), 0));
        for (int factor = 1; factor <= n; factor += factor < 5 ? 1 : 9) {
            CAPTURE(n);
            CAPTURE(factor);
            require_equal_followers(counts_of(brokers, 3, factor), 3, factor);
        }
    }
}

TEST_CASE(
    "assign_replicas: every mixture of racks keeps racks apart, leaders equal, and followers where "
    "possible") {
    // All partitions of 1 to 9 brokers into racks, in either order of size.
    std::vector<std::vector<int>> mixtures;
    const auto split = [&](const auto& self, std::vector<int> sizes, int left, int largest) -> void {
        if (left == 0) {
            mixtures.push_back(sizes);
            mixtures.emplace_back(sizes.rbegin(), sizes.rend());
        }
        for (int next = std::min(left, largest); next > 0; --next) {
            auto more = sizes;
            more.push_back(next);
            self(self, more, left - next, next);
        }
    };
    for (int n = 1; n <= 9; ++n) split(split, {}, n, n);
    for (const auto& sizes : mixtures) {
        const auto brokers = brokers_in(sizes);
        for (int factor = 1; factor <= static_cast<int>(brokers.size()); ++factor) {
            for (const int per_broker : {1, 2, 10}) {
                CAPTURE(sizes.size());
                CAPTURE(brokers.size());
                CAPTURE(factor);
                const auto counts = counts_of(brokers, per_broker, factor);
                if (can_be_equal(brokers, factor)) require_equal_followers(counts, per_broker, factor);
            }
        }
    }
}

TEST_CASE("assign_replicas: large random clusters hold the same rules") {
    std::mt19937 random{20240607};  // NOLINT: the same clusters every time
    for (int round = 0; round < 60; ++round) {
        std::vector<int> sizes;
        for (int left = 1 + static_cast<int>(random() % 50); left > 0;) {
            const int size = std::min(left, static_cast<int>(random() % 20));
            sizes.push_back(size);
            left -= std::max(1, size);
        }
        auto brokers = brokers_in(sizes);
        std::shuffle(brokers.begin(), brokers.end(), random);
        const int factor = 1 + static_cast<int>(random() % std::min<std::size_t>(brokers.size(), 6));
        CAPTURE(round);
        const auto counts = counts_of(brokers, 10, factor);
        if (can_be_equal(brokers, factor)) require_equal_followers(counts, 10, factor);
    }
}

TEST_CASE("assign_replicas: finds equal leaders where the first placement has none") {
    counts_of(brokers_in({22, 12, 6}), 1, 2);
}

TEST_CASE("assign_replicas: a lost broker's partitions are spread over the others") {
    const auto counts = counts_of(brokers_in(std::vector<int>(10, 0)), 10, 3);
    // 100 partitions × 3 pairs over 45 pairs: 6.67 on average.
    REQUIRE(counts.pairs.size() == 45);
    for (const auto& [pair, times] : counts.pairs) {
        CHECK(times >= 4);
        CHECK(times <= 10);
    }
}

TEST_CASE("assign_replicas: racks win over equal followers when both are impossible") {
    const auto brokers = brokers_in({4, 1, 1});
    const auto counts = counts_of(brokers, 10, 3);  // each partition needs both small racks
    CHECK(counts.follows.at(brokers[4].id) == 50);
    CHECK(counts.follows.at(brokers[0].id) == 5);
}

TEST_CASE("assign_replicas: what cannot be is an error that says why") {
    const auto brokers = brokers_in({0, 0, 0});
    const auto too_many = assign_replicas(brokers, 10, 4);
    REQUIRE(!too_many);
    CHECK(too_many.error().code == ErrorCode::invalid_input);
    CHECK(too_many.error().message.find("has 3") != std::string::npos);
    CHECK(!assign_replicas({}, 10, 1));
    CHECK(!assign_replicas(brokers, 0, 1));
    CHECK(!assign_replicas(brokers, 10, 0));
    CHECK(!assign_replicas({{1}, {2}, {1}}, 10, 2));
}

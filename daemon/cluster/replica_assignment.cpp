// Replicas of a topic's partitions, in three steps of whole numbers:
//   1. how many replicas each rack gets, by filling the rack with the fewest per broker first;
//   2. which racks, and within them which brokers, each partition uses: always those that still lack most,
//   and of
//      these the ones that have met least often, so that the loss of a broker spreads over the others;
//   3. which of its replicas leads a partition: a bipartite matching with `partitions_per_broker` places a
//   broker.
// Rules, the earlier one winning: equal leaders, exactly; a partition's replicas spread over racks as evenly
// as the racks' sizes allow (all distinct where there are enough racks); equal followers. So only racks so
// unequal that one holds more than 1/replication_factor of the brokers (or, with fewer racks than replicas,
// than its even part) make brokers in small racks follow more than others.
#include <algorithm>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "daemon/cluster/cluster.hpp"

namespace brink {

namespace {

/// Brokers by index in the caller's list. A broker without a rack is a rack of its own: nothing is known of
/// it.
std::vector<std::vector<std::size_t>> racks_of(const std::vector<BrokerInfo>& brokers) {
    std::map<std::string, std::vector<std::size_t>> named;
    std::vector<std::vector<std::size_t>> racks;
    for (std::size_t b = 0; b < brokers.size(); ++b) {
        if (brokers[b].rack.empty()) {
            racks.push_back({b});
        } else {
            named[brokers[b].rack].push_back(b);
        }
    }
    for (auto& [name, members] : named) racks.push_back(std::move(members));
    return racks;
}

/// How often two brokers hold the same partition.
class Meetings {
  public:
    explicit Meetings(std::size_t brokers) : brokers_(brokers), count_(brokers * brokers) {}
    [[nodiscard]] int of(std::size_t broker, const std::vector<std::size_t>& others) const {
        int sum = 0;
        for (const auto other : others) sum += count_[broker * brokers_ + other];
        return sum;
    }
    void add(const std::vector<std::size_t>& replicas) {
        for (const auto a : replicas) {
            for (const auto b : replicas) ++count_[a * brokers_ + b];
        }
    }

  private:
    std::size_t brokers_;
    std::vector<int> count_;
};

/// Steps 1 and 2.
class Placement {
  public:
    Placement(const std::vector<BrokerInfo>& brokers, std::size_t partitions, std::size_t replication_factor)
        : racks_(racks_of(brokers)),
          partitions_(partitions),
          replicas_(replication_factor),
          held_(brokers.size()),
          meetings_(brokers.size()) {
        share_out();
    }

    /// The brokers of each partition, in no order.
    std::vector<std::vector<std::size_t>> place() {
        std::vector<std::vector<std::size_t>> placed;
        placed.reserve(partitions_);
        for (std::size_t p = 0; p < partitions_; ++p) placed.push_back(place_one());
        return placed;
    }

  private:
    /// Every partition has `base_` replicas in each rack (the rack's size, if that is less), and `extra_`
    /// racks give it one more; `still_[r]` counts how many partitions rack r does that for.
    void share_out() {
        const auto in_racks = [&](std::size_t each) {
            std::size_t sum = 0;
            for (const auto& rack : racks_) sum += std::min(rack.size(), each);
            return sum;
        };
        while (in_racks(base_ + 1) < replicas_) ++base_;
        extra_ = replicas_ - in_racks(base_);
        still_.assign(racks_.size(), 0);
        for (std::size_t left = partitions_ * extra_; left > 0; --left) {
            std::size_t emptiest = racks_.size();
            for (std::size_t r = 0; r < racks_.size(); ++r) {
                if (racks_[r].size() <= base_ || still_[r] == partitions_) continue;
                if (emptiest == racks_.size() ||
                    total(r) * racks_[emptiest].size() < total(emptiest) * racks_[r].size()) {
                    emptiest = r;
                }
            }
            ++still_.at(emptiest);
        }
    }

    [[nodiscard]] std::size_t total(std::size_t rack) const {
        return partitions_ * std::min(racks_[rack].size(), base_) + still_[rack];
    }

    std::vector<std::size_t> place_one() {
        // Taking the racks that owe most leaves the rest possible (Gale and Ryser's construction).
        std::vector<std::size_t> chosen;
        std::vector<bool> gives(racks_.size());
        for (std::size_t i = 0; i < extra_; ++i) {
            std::size_t best = racks_.size();
            for (std::size_t r = 0; r < racks_.size(); ++r) {
                if (gives[r] || still_[r] == 0) continue;
                if (best == racks_.size() || owes(r, chosen) > owes(best, chosen)) best = r;
            }
            gives.at(best) = true;
            --still_[best];
            take_from(best, chosen);
        }
        for (std::size_t r = 0; r < racks_.size(); ++r) {
            for (std::size_t i = std::min(base_, racks_[r].size()); i > 0; --i) take_from(r, chosen);
        }
        meetings_.add(chosen);
        return chosen;
    }

    /// Sorts racks: what is owed first, then the broker met least.
    [[nodiscard]] std::tuple<std::size_t, int> owes(std::size_t rack,
                                                    const std::vector<std::size_t>& chosen) const {
        return {still_[rack], -meetings_.of(next_in(rack, chosen), chosen)};
    }

    /// The broker of a rack that holds least, of these the one that has met `chosen` least; not one of
    /// `chosen`.
    [[nodiscard]] std::size_t next_in(std::size_t rack, const std::vector<std::size_t>& chosen) const {
        const auto rank = [&](std::size_t b) {
            const bool there = std::find(chosen.begin(), chosen.end(), b) != chosen.end();
            return std::tuple{there, held_[b], meetings_.of(b, chosen)};
        };
        const auto& members = racks_[rack];
        return *std::min_element(members.begin(), members.end(),
                                 [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    }

    void take_from(std::size_t rack, std::vector<std::size_t>& chosen) {
        const auto broker = next_in(rack, chosen);
        ++held_[broker];
        chosen.push_back(broker);
    }

    std::vector<std::vector<std::size_t>> racks_;
    std::size_t partitions_;
    std::size_t replicas_;
    std::size_t base_ = 0;
    std::size_t extra_ = 0;
    std::vector<std::size_t> still_;
    std::vector<std::size_t> held_;
    Meetings meetings_;
};

/// Step 3: the leader of each partition. First greedily; then leaderships move along shortest paths from a
/// broker with too many to one with too few. Where all brokers hold equally many replicas that always ends
/// well (a fractional matching does: each replica leads 1/replication_factor). Where racks forbid that, a few
/// placements in ten thousand need two brokers of a rack to change places first.
class Leaders {
  public:
    Leaders(const std::vector<BrokerInfo>& brokers, std::vector<std::vector<std::size_t>> placed,
            std::size_t each)
        : brokers_(brokers), placed_(std::move(placed)), each_(each), leads_(brokers.size()) {
        leader_.reserve(placed_.size());
        for (const auto& replicas : placed_) {
            const auto least =
                *std::min_element(replicas.begin(), replicas.end(),
                                  [&](std::size_t a, std::size_t b) { return leads_[a] < leads_[b]; });
            leader_.push_back(least);
            ++leads_[least];
        }
        for (std::size_t b = 0; b < brokers.size(); ++b) {
            while (leads_[b] < each_) {
                if (pull(b) || exchange()) continue;
                throw std::logic_error("assign_replicas: found no placement with equal leaders");
            }
        }
    }

    /// The replicas' ids, leaders first, numbered so that consecutive partitions are led by consecutive
    /// brokers.
    [[nodiscard]] std::vector<std::vector<int>> assignment() const {
        std::vector<std::vector<int>> assigned(placed_.size());
        std::vector<std::size_t> next(brokers_.size());
        for (std::size_t p = 0; p < placed_.size(); ++p) {
            const auto leader = leader_[p];
            auto& replicas = assigned.at(next[leader]++ * brokers_.size() + leader);
            replicas.push_back(brokers_[leader].id);
            for (const auto broker : placed_[p]) {
                if (broker != leader) replicas.push_back(brokers_[broker].id);
            }
        }
        return assigned;
    }

  private:
    [[nodiscard]] bool holds(std::size_t broker, std::size_t partition) const {
        const auto& replicas = placed_[partition];
        return std::find(replicas.begin(), replicas.end(), broker) != replicas.end();
    }

    /// Gives `poor` one partition more: breadth first over "x could take a partition that y leads". False
    /// when no path leads to a broker with too many; `reached_` then has those that were looked at.
    bool pull(std::size_t poor) {
        struct Step {
            std::size_t taker = 0;
            std::size_t partition = 0;
        };
        std::vector<Step> into(brokers_.size());
        reached_.assign(brokers_.size(), false);
        reached_[poor] = true;
        std::vector<std::size_t> queue{poor};
        for (std::size_t i = 0; i < queue.size(); ++i) {
            for (std::size_t p = 0; p < placed_.size(); ++p) {
                auto from = leader_[p];
                if (reached_[from] || !holds(queue[i], p)) continue;
                reached_[from] = true;
                into[from] = {queue[i], p};
                queue.push_back(from);
                if (leads_[from] <= each_) continue;
                for (; from != poor; from = into[from].taker) lead(into[from].partition, into[from].taker);
                return true;
            }
        }
        return false;
    }

    void lead(std::size_t partition, std::size_t broker) {
        --leads_[leader_[partition]];
        ++leads_[broker];
        leader_[partition] = broker;
    }

    /// Makes a path after pull() found none: in a partition of a broker with too many, a replica gives way to
    /// a reached broker of the same rack and gets the place of that one in a partition which that one does
    /// not lead. No count of replicas changes, of a broker or of a rack. False when there is no such pair.
    bool exchange() {
        for (std::size_t p = 0; p < placed_.size(); ++p) {
            if (leads_[leader_[p]] <= each_) continue;
            for (auto& outgoing : placed_[p]) {
                for (std::size_t incoming = 0; incoming < brokers_.size(); ++incoming) {
                    if (!reached_[incoming] || brokers_[incoming].rack != brokers_[outgoing].rack) continue;
                    for (std::size_t other = 0; other < placed_.size(); ++other) {
                        if (leader_[other] == incoming || !holds(incoming, other) || holds(outgoing, other))
                            continue;
                        std::replace(placed_[other].begin(), placed_[other].end(), incoming, outgoing);
                        if (leader_[p] == outgoing) lead(p, incoming);
                        outgoing = incoming;
                        return true;
                    }
                }
            }
        }
        return false;
    }

    const std::vector<BrokerInfo>& brokers_;
    std::vector<std::vector<std::size_t>> placed_;
    std::size_t each_;
    std::vector<std::size_t> leader_;  ///< of each partition
    std::vector<std::size_t> leads_;   ///< partitions that each broker leads
    std::vector<bool> reached_;
};

tl::unexpected<Error> invalid(std::string message) {
    return tl::unexpected(Error{ErrorCode::invalid_input, std::move(message)});
}

}  // namespace

tl::expected<std::vector<std::vector<int>>, Error> assign_replicas(const std::vector<BrokerInfo>& brokers,
                                                                   int partitions_per_broker,
                                                                   int replication_factor) {
    if (partitions_per_broker < 1) {
        return invalid("partitions per broker must be at least 1, not " +
                       std::to_string(partitions_per_broker));
    }
    if (replication_factor < 1) {
        return invalid("the replication factor must be at least 1, not " +
                       std::to_string(replication_factor));
    }
    if (static_cast<std::size_t>(replication_factor) > brokers.size()) {
        return invalid("replication factor " + std::to_string(replication_factor) +
                       " needs as many brokers, and the cluster has " + std::to_string(brokers.size()) +
                       ": lower topic.replication_factor");
    }
    std::set<int> ids;
    for (const auto& broker : brokers) {
        if (!ids.insert(broker.id).second)
            return invalid("broker " + std::to_string(broker.id) + " is listed twice");
    }
    const auto each = static_cast<std::size_t>(partitions_per_broker);
    auto placed =
        Placement{brokers, each * brokers.size(), static_cast<std::size_t>(replication_factor)}.place();
    return Leaders{brokers, std::move(placed), each}.assignment();
}

}  // namespace brink

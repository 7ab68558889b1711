#pragma once
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "daemon/cluster/cluster.hpp"
#include "daemon/sweep/clock.hpp"
#include "storage/sweep_store.hpp"

namespace brink {

/// Ends what an earlier controller left unfinished: its trial in flight becomes void, the sweep `failed` with
/// the reason; points that had finished stay. Returns the sweeps it ended. Runs before the API answers.
/// Errors: storage.
tl::expected<std::vector<storage::SweepRow>, Error> end_orphans(storage::SweepStore& store,
                                                                const Clock& clock);

/// Deletes the topics of ended orphans where their cluster can be reached; logs what it could not. Blocks up
/// to 20 s a topic. `connect` gives the cluster of a name, or nothing when it is no longer configured.
void delete_orphaned_topics(const std::vector<storage::SweepRow>& orphans,
                            const std::function<std::unique_ptr<Cluster>(const std::string&)>& connect);

}  // namespace brink

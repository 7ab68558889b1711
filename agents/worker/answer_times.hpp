#pragma once
#include <map>
#include <string_view>

namespace brink::worker {

/// How long each broker took to answer, in ms, by broker id: the mean over one interval of librdkafka's
/// statistics (STATISTICS.md, `brokers.*.rtt.avg`), which `json` is one document of. From a request's last
/// byte written to its answer, so neither the local queue nor the schedule is in it. Brokers that answered
/// nothing are left out; so is everything when `json` is not such a document.
std::map<int, double> answer_times_ms(std::string_view json);

}  // namespace brink::worker

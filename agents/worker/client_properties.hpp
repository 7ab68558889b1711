#pragma once
#include <librdkafka/rdkafka.h>

#include <map>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "agents/protocol/messages.hpp"
#include "search/error.hpp"

namespace brink::worker {

struct ConfDeleter {
    void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
};
using Conf = std::unique_ptr<rd_kafka_conf_t, ConfDeleter>;

/// All producers of a task together may queue this much in the client library.
inline constexpr std::int64_t kQueueBudgetBytes = 512LL * 1024 * 1024;
/// The library's bookkeeping around a message.
inline constexpr std::int64_t kMessageOverheadBytes = 1'024;

/// The librdkafka properties of a task: brink's safe bases below, the user's on top. Bases: a queue of about
/// two seconds of messages within the task's share of memory, no topic creation by asking, connections to
/// every broker from the beginning and for good, messages given up after 30 s, quiet logs. Errors:
/// invalid_input with a pointer under /client; values of secrets are never repeated.
tl::expected<std::map<std::string, std::string>, Error> client_properties(const protocol::TaskSpec& spec);

/// A configuration object of these properties. Errors: invalid_input naming the property that librdkafka
/// refuses.
tl::expected<Conf, Error> make_conf(const std::map<std::string, std::string>& properties);

/// Whether a property's value must never be shown.
bool is_secret_property(const std::string& name);

/// What a running client uses, without secrets, callbacks and what is unset.
std::map<std::string, std::string> resolved_properties(const rd_kafka_t* client);

}  // namespace brink::worker

#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace brink::bench {

/// A page of about `bytes` (at least so many, at most a topic more), as of a broker with many topics, made
/// from the short page of a real one: comments stay, and so do samples without a topic; each sample with a
/// label `request` is there for 60 requests of Kafka's protocol, as exporters without rules show them; each
/// with a label `topic` for as many topics as it takes. So values, names, labels and the order of families
/// are real. A page without either label comes back as it is.
std::string grow_page(std::string_view capture, std::size_t bytes);

}  // namespace brink::bench

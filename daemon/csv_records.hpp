#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "search/error.hpp"

namespace brink::csv {

using Record = std::vector<std::string>;

/// The records of an RFC 4180 text, blank lines left out. Errors: invalid_input, for a quote that is not
/// closed and for more than `most_rows`, which are "no `what`".
tl::expected<std::vector<Record>, Error> records_of(std::string_view text, std::size_t most_rows,
                                                    std::string_view what);

}  // namespace brink::csv

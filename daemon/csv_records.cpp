#include "daemon/csv_records.hpp"

#include <fmt/format.h>
#include <utility>

namespace brink::csv {
namespace {

tl::unexpected<Error> wrong(std::string message) {
    return tl::unexpected{Error{ErrorCode::invalid_input, std::move(message), {}}};
}

}  // namespace

tl::expected<std::vector<Record>, Error> records_of(std::string_view text, std::size_t most_rows,
                                                    std::string_view what) {
    std::vector<Record> records;
    Record record{{}};
    bool quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted) {
            if (c != '"') {
                record.back() += c;
            } else if (at + 1 < text.size() && text[at + 1] == '"') {
                record.back() += text[at++];
            } else {
                quoted = false;
            }
        } else if (c == '"') {
            quoted = true;
        } else if (c == ',') {
            record.emplace_back();
        } else if (c == '\n') {
            if (record.size() > 1 || !record.back().empty()) records.push_back(std::move(record));
            record = Record{{}};
        } else if (c != '\r') {
            record.back() += c;
        }
        if (records.size() > most_rows)
            return wrong(fmt::format("more than {} rows are no {}", most_rows, what));
    }
    if (quoted) return wrong("a quote is not closed; is the file whole?");
    if (record.size() > 1 || !record.back().empty()) records.push_back(std::move(record));
    return records;
}

}  // namespace brink::csv

#include "daemon/metrics/exposition.hpp"

#include <cstring>
#include <initializer_list>
#include <limits>

#include "daemon/metrics/sample_text.hpp"

namespace brink {

namespace {

using namespace exposition;

constexpr std::string_view kExportLess =
    ": let the exporter export less (a JMX exporter's includeObjectNames and rules, or fewer topics)";

bool ends_name(char c) { return c == '{' || is_blank(c); }

void strip_return(std::string_view& line) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
}

/// The type that a TYPE line gives to samples called `name`. OpenMetrics types `x` and samples `x_total`;
/// exporters 0.x type `x_total` and sample `x`.
std::string_view type_of(std::string_view name, std::string_view line) {
    skip_blanks(line);
    const auto family = take_word(line);
    skip_blanks(line);
    const auto type = take_word(line);
    if (family.empty()) return {};
    if (name == family) return type;
    if (name.starts_with(family)) {
        const auto suffix = name.substr(family.size());
        for (const std::string_view known :
             {"_total", "_count", "_sum", "_bucket", "_info", "_gcount", "_gsum"}) {
            if (suffix == known) return type;
        }
    }
    if (family.starts_with(name) && family.substr(name.size()) == "_total") return type;
    return {};
}

}  // namespace

bool ExpositionParser::feed(std::string_view chunk) {
    if (exceeded_ != Exceeded::nothing) return false;
    if (chunk.size() > limits_.max_body_bytes - body_bytes_) {
        exceed(Exceeded::body);
        return false;
    }
    body_bytes_ += chunk.size();
    if (carrying_ && !stopped_) {
        const auto end = chunk.find('\n');
        carry(chunk.substr(0, end));
        if (end == std::string_view::npos) return true;
        chunk.remove_prefix(end + 1);
        read_carried_line();
    }
    while (!chunk.empty() && !stopped_) {
        const auto end = chunk.find('\n');
        if (end == std::string_view::npos) {
            carry(chunk);
            break;
        }
        read_line(chunk.substr(0, end));
        chunk.remove_prefix(end + 1);
    }
    keep_views();
    return exceeded_ == Exceeded::nothing;
}

tl::expected<ExpositionStats, Error> ExpositionParser::finish() {
    if (carrying_ && !stopped_) read_carried_line();
    const auto fault = [](const std::string& what, std::size_t limit) {
        return tl::unexpected(Error{ErrorCode::bad_reply, "the page has more than " + std::to_string(limit) +
                                                              what + std::string{kExportLess}});
    };
    if (exceeded_ == Exceeded::body) return fault(" bytes, the limit", limits_.max_body_bytes);
    if (exceeded_ == Exceeded::samples)
        return fault(" samples of brink's signals, the limit", limits_.max_samples);
    return stats_;
}

/// One line without its end. This is what the speed depends on: most lines are of the family before them,
/// and of no interest.
void ExpositionParser::read_line(std::string_view line) {
    if (line.size() > limits_.max_line_bytes) {
        ++stats_.bad_lines;
        return;
    }
    if (begins_with_last_name(line)) {
        if (last_index_ < 0) {
            ++stats_.samples;
            return;
        }
    } else if (!read_name(line)) {
        return;
    }
    auto rest = line.substr(last_name_.size());
    strip_return(rest);
    if (!reader_.read(rest)) {
        ++stats_.bad_lines;
        return;
    }
    if (selected_ == limits_.max_samples) {
        exceed(Exceeded::samples);
        return;
    }
    ++selected_;
    ++stats_.samples;
    sink_({last_name_, reader_.labels(), reader_.value(), type_of_last_name(), last_index_});
}

bool ExpositionParser::begins_with_last_name(std::string_view line) const {
    const auto length = last_name_.size();
    return length != 0 && line.size() > length && ends_name(line[length]) &&
           std::memcmp(line.data(), last_name_.data(), length) == 0;
}

/// The name of a line of another family than the one before. True when the line is a selected sample, which
/// then begins with the name; everything else is dealt with.
bool ExpositionParser::read_name(std::string_view& line) {
    skip_blanks(line);
    if (line.empty() || line == "\r") return false;
    if (line.front() == '#') {
        read_comment(line);
        return false;
    }
    const auto length = name_length(line);
    if (length == 0 || length == line.size() || !ends_name(line[length])) {
        ++stats_.bad_lines;
        return false;
    }
    last_name_ = line.substr(0, length);
    type_known_ = false;
    if (names_ != nullptr) {
        last_index_ = names_->find(last_name_);
    } else {
        last_index_ = wanted_(last_name_) ? 0 : -1;
    }
    if (last_index_ >= 0) return true;
    ++stats_.samples;
    return false;
}

void ExpositionParser::read_comment(std::string_view line) {
    constexpr std::string_view kType = "TYPE";
    strip_return(line);
    if (line == "# EOF") {
        stopped_ = true;
        return;
    }
    take(line, '#');
    skip_blanks(line);
    if (!line.starts_with(kType)) return;
    line.remove_prefix(kType.size());
    if (!line.empty() && !is_blank(line.front())) return;
    type_line_ = line;
    type_in_page_ = true;
    type_known_ = false;
}

void ExpositionParser::exceed(Exceeded limit) {
    exceeded_ = limit;
    stopped_ = true;
}

std::string_view ExpositionParser::type_of_last_name() {
    if (!type_known_) last_type_ = type_of(last_name_, type_line_);
    type_known_ = true;
    return last_type_;
}

void ExpositionParser::carry(std::string_view part) {
    carrying_ = true;
    if (overlong_) return;
    if (part.size() > limits_.max_line_bytes - carry_.size()) {
        overlong_ = true;
        carry_.clear();
        return;
    }
    carry_ += part;
}

void ExpositionParser::read_carried_line() {
    carrying_ = false;
    if (overlong_) {
        overlong_ = false;
        ++stats_.bad_lines;
        return;
    }
    read_line(carry_);
    keep_views();
    carry_.clear();
}

/// Before what was read from goes away.
void ExpositionParser::keep_views() {
    last_name_ = {};
    if (!type_in_page_) return;
    type_store_.assign(type_line_);
    type_line_ = type_store_;
    type_in_page_ = false;
}

ExpositionStats parse_exposition(std::string_view text, const std::function<bool(std::string_view)>& wanted,
                                 const std::function<void(const ExpositionSample&)>& sink) {
    constexpr auto kEndless = std::numeric_limits<std::size_t>::max();
    const auto select = [&](std::string_view name) { return !wanted || wanted(name); };
    const auto pass = [&](const ExpositionSample& sample) {
        if (sink) sink(sample);
    };
    ExpositionParser parser{
        select, pass, {.max_body_bytes = kEndless, .max_line_bytes = kEndless, .max_samples = kEndless}};
    parser.feed(text);
    return parser.finish().value_or(ExpositionStats{});
}

}  // namespace brink

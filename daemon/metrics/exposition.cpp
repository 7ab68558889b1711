#include "daemon/metrics/exposition.hpp"

#include <charconv>
#include <initializer_list>
#include <optional>
#include <system_error>

namespace brink {

namespace {

using Label = std::pair<std::string_view, std::string_view>;

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':'; }
bool continues_name(char c) { return starts_name(c) || (c >= '0' && c <= '9'); }

void skip_blanks(std::string_view& rest) {
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
}

bool take(std::string_view& rest, char c) {
    if (rest.empty() || rest.front() != c) return false;
    rest.remove_prefix(1);
    return true;
}

/// The name at the front; empty when there is none.
std::string_view take_name(std::string_view& rest) {
    if (rest.empty() || !starts_name(rest.front())) return {};
    std::size_t length = 1;
    while (length < rest.size() && continues_name(rest[length])) ++length;
    const auto name = rest.substr(0, length);
    rest.remove_prefix(length);
    return name;
}

/// Everything up to the next blank.
std::string_view take_word(std::string_view& rest) {
    std::size_t length = 0;
    while (length < rest.size() && !is_blank(rest[length])) ++length;
    const auto word = rest.substr(0, length);
    rest.remove_prefix(length);
    return word;
}

/// A decimal number, NaN or an infinity; a leading plus is allowed, hexadecimal is not.
std::optional<double> number(std::string_view word) {
    if (word.size() > 1 && word.front() == '+' && word[1] != '-') word.remove_prefix(1);
    double value = 0;
    const auto* const begin = word.data();
    const auto* const end = begin + word.size();
    const auto [stopped, fault] = std::from_chars(begin, end, value);
    if (fault != std::errc{} || stopped != end || word.empty()) return std::nullopt;
    return value;
}

/// The labels and the value of one line after its name. Keeps its storage from line to line.
class SampleReader {
  public:
    /// False when the rest of the line is not `{labels} value [timestamp] [# exemplar]`.
    bool read(std::string_view rest) {
        labels_.clear();
        unescaped_.clear();
        unescaped_.reserve(rest.size());  // so that appending never moves what the labels point at
        skip_blanks(rest);
        if (take(rest, '{') && !read_labels(rest)) return false;
        skip_blanks(rest);
        const auto value = number(take_word(rest));
        if (!value) return false;
        value_ = *value;
        skip_blanks(rest);
        if (rest.empty() || rest.front() == '#') return true;
        if (!number(take_word(rest))) return false;  // a timestamp: brink times scrapes itself
        skip_blanks(rest);
        return rest.empty() || rest.front() == '#';
    }

    [[nodiscard]] const std::vector<Label>& labels() const { return labels_; }
    [[nodiscard]] double value() const { return value_; }

  private:
    bool read_labels(std::string_view& rest) {
        for (;;) {
            skip_blanks(rest);
            if (take(rest, '}')) return true;  // also after the trailing comma that old exporters write
            const auto name = take_name(rest);
            skip_blanks(rest);
            if (name.empty() || !take(rest, '=')) return false;
            skip_blanks(rest);
            const auto value = read_quoted(rest);
            if (!value) return false;
            labels_.emplace_back(name, *value);
            skip_blanks(rest);
            if (take(rest, ',')) continue;
            return take(rest, '}');
        }
    }

    /// A quoted value; a view into the line itself where nothing was escaped.
    std::optional<std::string_view> read_quoted(std::string_view& rest) {
        if (!take(rest, '"')) return std::nullopt;
        const auto plain = rest.find_first_of("\"\\");
        if (plain == std::string_view::npos) return std::nullopt;
        if (rest[plain] == '"') {
            const auto value = rest.substr(0, plain);
            rest.remove_prefix(plain + 1);
            return value;
        }
        const auto from = unescaped_.size();
        while (!rest.empty()) {
            const char c = rest.front();
            rest.remove_prefix(1);
            if (c == '"') return std::string_view{unescaped_}.substr(from);
            if (c != '\\') {
                unescaped_ += c;
                continue;
            }
            if (rest.empty()) return std::nullopt;
            const char escaped = rest.front();
            rest.remove_prefix(1);
            if (escaped == 'n') {
                unescaped_ += '\n';
            } else {
                if (escaped != '"' && escaped != '\\') unescaped_ += '\\';
                unescaped_ += escaped;
            }
        }
        return std::nullopt;
    }

    std::vector<Label> labels_;
    std::string unescaped_;
    double value_ = 0;
};

/// What the latest `# TYPE` line said. A family's samples follow its line, so the latest is all that is
/// needed.
struct TypeLine {
    std::string_view family;
    std::string_view type;

    void read(std::string_view comment) {
        skip_blanks(comment);
        if (take_word(comment) != "TYPE") return;
        skip_blanks(comment);
        family = take_word(comment);
        skip_blanks(comment);
        type = take_word(comment);
    }

    /// OpenMetrics types `x` and samples `x_total`; exporters 0.x type `x_total` and sample `x`.
    [[nodiscard]] std::string_view of(std::string_view name) const {
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
};

}  // namespace

ExpositionStats parse_exposition(std::string_view text, const std::function<bool(std::string_view)>& wanted,
                                 const std::function<void(const ExpositionSample&)>& sink) {
    ExpositionStats stats;
    SampleReader reader;
    TypeLine type;
    while (!text.empty()) {
        const auto end = text.find('\n');
        auto line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        skip_blanks(line);
        if (line.empty()) continue;
        if (take(line, '#')) {
            type.read(line);
            continue;
        }
        const auto name = take_name(line);
        const bool named = !name.empty() && !line.empty() && (line.front() == '{' || is_blank(line.front()));
        const bool asked_for = named && (!wanted || wanted(name));
        if (!named || (asked_for && !reader.read(line))) {
            ++stats.bad_lines;
            continue;
        }
        ++stats.samples;
        if (asked_for && sink) sink({name, reader.labels(), reader.value(), type.of(name)});
    }
    return stats;
}

}  // namespace brink

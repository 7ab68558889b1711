#include <cmath>
#include <set>
#include <vector>

#include "agents/protocol/json.hpp"
#include "agents/protocol/json_pointer.hpp"

namespace brink::protocol {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxDepth = 32;

/// Builds a document from parser events and stops at the first thing that must not be believed: the library
/// itself takes any depth (and later overflows the stack writing it out) and keeps the last of two equal
/// keys.
class StrictBuilder : public nlohmann::json_sax<json> {
  public:
    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(number_integer_t value) override { return put(value); }
    bool number_unsigned(number_unsigned_t value) override { return put(value); }
    bool number_float(number_float_t value, const string_t& text) override {
        if (!std::isfinite(value)) return fail("the number " + text.substr(0, 40) + " is out of range");
        return put(value);
    }
    bool string(string_t& value) override { return put(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return fail("binary values are not JSON"); }
    bool start_object(std::size_t /*size*/) override { return open(json::object()); }
    bool start_array(std::size_t /*size*/) override { return open(json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        auto& level = levels_.back();
        level.key = name;
        if (level.value->contains(name)) return fail("the key occurs twice");
        return true;
    }
    bool parse_error(std::size_t offset, const std::string& token,
                     const nlohmann::detail::exception& fault) override {
        // 406 is the library's number for a literal such as 1e400 that no double holds.
        const bool overflow = fault.id == 406;
        error_ = Error{ErrorCode::invalid_input,
                       overflow ? "the body holds a number out of range at byte " + std::to_string(offset)
                                : "the body is not JSON: at byte " + std::to_string(offset) + ", near '" +
                                      printable(token) + "'",
                       {{pointer(), overflow ? "number out of range" : "syntax error"}}};
        return false;
    }

    json take() { return std::move(root_); }
    [[nodiscard]] const Error& error() const { return error_; }

  private:
    struct Level {
        json* value = nullptr;
        std::string key{};
    };

    static std::string printable(const std::string& token) {
        std::string out;
        for (const char c : token.substr(0, 40)) out += (c >= ' ' && c < 127) ? c : '?';
        return out;
    }
    [[nodiscard]] std::string pointer() const {
        std::string out;
        for (std::size_t i = 0; i < levels_.size(); ++i) {
            const auto& level = levels_[i];
            // An element that is still open is in its array already; the one that failed to start is not.
            const bool open = i + 1 < levels_.size();
            out += level.value->is_array() ? "/" + std::to_string(level.value->size() - (open ? 1 : 0))
                                           : child_pointer("", level.key);
        }
        return out;
    }
    bool fail(const std::string& detail) {
        const auto where = pointer();
        error_ = Error{ErrorCode::invalid_input, "the body at '" + where + "': " + detail, {{where, detail}}};
        return false;
    }
    json* place(json value) {
        if (levels_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        auto& level = levels_.back();
        if (level.value->is_array()) {
            level.value->push_back(std::move(value));
            return &level.value->back();
        }
        return &((*level.value)[level.key] = std::move(value));
    }
    bool put(json value) {
        place(std::move(value));
        return true;
    }
    bool open(json container) {
        if (levels_.size() >= kMaxDepth)
            return fail("nested deeper than " + std::to_string(kMaxDepth) + " levels");
        levels_.push_back(Level{place(std::move(container))});
        return true;
    }
    bool close() {
        levels_.pop_back();
        return true;
    }

    json root_;
    std::vector<Level> levels_;
    Error error_;
};

}  // namespace

tl::expected<json, Error> parse_json(std::string_view text) {
    StrictBuilder builder;
    if (!json::sax_parse(text.begin(), text.end(), &builder)) return tl::unexpected(builder.error());
    return builder.take();
}

}  // namespace brink::protocol

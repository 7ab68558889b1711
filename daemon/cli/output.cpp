#include "daemon/cli/output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "daemon/cli/format.hpp"

namespace brink::cli {

Output::Output(const Host& host, Format format, std::string file)
    : host_{host}, format_{format}, path_{file == "-" ? std::string{} : std::move(file)} {}

bool Output::repaints() const { return path_.empty() && format_ == Format::text && host_.out_is_terminal; }

void Output::fail(const char* doing) const {
    throw OutputFailed{Error{ErrorCode::invalid_input,
                             fmt::format("{} {}: {}", doing, path_, std::generic_category().message(errno))}};
}

void Output::raw(std::string_view data) {
    if (path_.empty()) {
        host_.out(data);
        return;
    }
    if (!file_) file_.reset(std::fopen(path_.c_str(), "wb"));
    if (!file_) fail("cannot open");
    // Flushed each time: whoever follows the file sees a line when it happened.
    if (std::fwrite(data.data(), 1, data.size(), file_.get()) != data.size() ||
        std::fflush(file_.get()) != 0) {
        fail("cannot write");
    }
}

void Output::line(std::string_view text) { raw(printable(text) + "\n"); }

void Output::lines(const std::vector<std::string>& texts) {
    for (const auto& text : texts) line(text);
}

void Output::document(const nlohmann::json& document) {
    const int indent = format_ == Format::json ? 2 : -1;
    raw(document.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void Output::note(std::string_view text) const { host_.err(printable(text) + "\n"); }

void Output::complain(const Error& error) const {
    note("brink: " + error.message);
    for (const auto& detail : error.details) {
        note(fmt::format("  {}: {}", detail.pointer.empty() ? "(document)" : detail.pointer, detail.detail));
    }
}

void Output::finish() {
    if (file_ && std::fclose(file_.release()) != 0) fail("cannot write");
}

}  // namespace brink::cli

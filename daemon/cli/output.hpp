#pragma once
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/cli/host.hpp"
#include "search/error.hpp"

namespace brink::cli {

enum class Format { text, json, jsonl, csv };

/// Where a command puts its data (standard output, or the file of `-o`) and its messages (standard error).
/// A file is opened when the first data comes, so that a command that fails leaves an old file alone. The
/// writing calls throw OutputFailed, or what `Host::out` throws.
class Output {
  public:
    /// `file` empty or "-": standard output. `host` must outlive this.
    Output(const Host& host, Format format, std::string file);

    [[nodiscard]] Format format() const { return format_; }
    /// Data goes to a terminal as text, so that a block of lines can be repainted.
    [[nodiscard]] bool repaints() const;
    /// Data, as it is.
    void raw(std::string_view data);
    /// A line of text, control characters replaced.
    void line(std::string_view text);
    void lines(const std::vector<std::string>& texts);
    /// A document: indented for `json`, one line otherwise.
    void document(const nlohmann::json& document);
    /// A message to the person at the terminal.
    void note(std::string_view text) const;
    /// An error and its pointers, a line each.
    void complain(const Error& error) const;
    /// Flushes and closes a file. Call it once, at the end.
    void finish();

  private:
    [[noreturn]] void fail(const char* doing) const;
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    const Host& host_;
    Format format_;
    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace brink::cli

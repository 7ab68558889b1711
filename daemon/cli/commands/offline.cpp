// `brink signals` and `brink judge`: no controller is asked.
#include <fmt/format.h>
#include <chrono>
#include <fstream>
#include <iterator>
#include <limits>

#include "daemon/cli/commands/commands.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/signals_view.hpp"
#include "daemon/metrics/scraper.hpp"

namespace brink::cli {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kScrapeDeadline{30'000};

tl::expected<SignalReader, Error> reader_of(const std::vector<std::string>& files) {
    std::vector<MetricsProfile> own;
    for (const auto& file : files) {
        auto profile = read_metrics_profile(file);
        if (!profile) return tl::unexpected(profile.error());
        own.push_back(std::move(*profile));
    }
    return SignalReader{own};
}

Recognition refused(std::string why) { return Recognition{.refused = std::move(why)}; }

Recognition scrape(net::HttpClient& http, const std::string& url, const SignalReader& reader) {
    const auto page = page_of(http.call(scrape_request({.url = url}), kScrapeDeadline), kScrapeDeadline);
    return page ? reader.recognise(*page) : refused(page.error().message);
}

Recognition read_file(const Context& context, const std::string& path, const SignalReader& reader) {
    if (path == "-") return reader.recognise(context.host.read_input());
    std::ifstream file{path, std::ios::binary};
    const std::string page{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    if (!file) return refused("cannot read the file " + path);
    return reader.recognise(page);
}

}  // namespace

CommandResult run_signals(Context& context, const Signals& command) {
    const auto reader = reader_of(command.profiles);
    if (!reader) return tl::unexpected{reader.error()};
    json documents = json::array();
    bool all = true;
    for (const auto& source : command.sources) {
        const bool remote = source.starts_with("http://") || source.starts_with("https://");
        const auto page =
            remote ? scrape(context.http, source, *reader) : read_file(context, source, *reader);
        all = all && page.refused.empty();
        if (context.output.format() == Format::json) {
            documents.push_back(signals_document(source, page));
        } else {
            context.output.lines(signals_lines(source, page));
        }
    }
    if (context.output.format() == Format::json) context.output.document(documents);
    return all ? kExitOk : kExitInconclusive;
}

CommandResult run_judge(Context& context, const Judge& command) {
    const auto reader = reader_of(command.profiles);
    if (!reader) return tl::unexpected{reader.error()};
    const auto series = read_series(command.folder, *reader);
    if (!series) return tl::unexpected{series.error()};
    const int from = command.from.value_or(std::numeric_limits<int>::min());
    const int to = command.to.value_or(std::numeric_limits<int>::max());
    if (from > to) {
        return tl::unexpected{Error{ErrorCode::invalid_input,
                                    fmt::format("--from {} is after --to {}: nothing lies between", from, to),
                                    {}}};
    }
    JudgeRules rules;
    rules.io_idle_below = command.io_idle_below;
    rules.isr_churn_above = command.isr_churn_above;
    const auto judged = judge_series(*series, from, to, rules);
    if (context.output.format() == Format::json) {
        context.output.document(judge_document(judged));
    } else {
        context.output.lines(judge_lines(judged));
    }
    switch (judged.verdict.kind) {
        case VerdictKind::sustained:
            return kExitOk;
        case VerdictKind::overloaded:
            return kExitOverloaded;
        default:
            return kExitInconclusive;
    }
}

}  // namespace brink::cli

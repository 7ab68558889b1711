#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "brink_version.hpp"
#include "search/boundary_search.hpp"
#include "tests/bench/metrics_page.hpp"
#include "tests/bench/scrape_bench.hpp"
#include "tests/bench/search_bench.hpp"

/// `brink-bench`: figures of brink itself, measured side by side in one run.
namespace {

using brink::bench::ScrapeRow;
using brink::bench::SearchRow;

constexpr int kExitUsage = 2;

struct SearchOptions {
    int seeds = 1'000;
    std::vector<std::string> strategies = brink::search_strategies();
    std::string output = "text";
};

/// A whole scrape of a real broker: 1.2 MB, of which brink needs little.
constexpr const char* kRealPage = "kafka_4.1.2__200_partitions__no_rules_lowercased.txt.gz";
/// A short one, to be made longer: without rules, so that most of its topics' lines have names of signals.
constexpr const char* kCapture = "no_rules_default_format__agent0.20.0.txt";

struct ScrapeOptions {
    std::string page = std::string{BRINK_TEST_DATA} + "/scrapes/" + kRealPage;
    std::size_t topics_bytes = 0;  ///< when not 0, the page is made from kCapture instead
    int runs = 11;
    int run_ms = 100;
    std::string output = "text";
};

nlohmann::json to_json(const SearchRow& row) {
    return {{"strategy", row.strategy},       {"shape", row.shape},           {"noise", row.noise},
            {"mean_trials", row.mean_trials}, {"p95_trials", row.p95_trials}, {"max_trials", row.max_trials},
            {"rms_error", row.rms_error},     {"coverage", row.coverage}};
}

void print(const std::vector<SearchRow>& rows) {
    std::printf("%-15s %5s  %-20s %7s %5s %5s %9s %9s\n", "shape", "noise", "strategy", "trials", "p95",
                "max", "rms_error", "coverage");
    for (const auto& r : rows)
        std::printf("%-15s %5.2f  %-20s %7.2f %5.0f %5d %9.4f %9.3f\n", r.shape.c_str(), r.noise,
                    r.strategy.c_str(), r.mean_trials, r.p95_trials, r.max_trials, r.rms_error, r.coverage);
}

nlohmann::json to_json(const ScrapeRow& row) {
    return {{"what", row.what}, {"mb_per_s", row.mb_per_s}, {"samples", row.samples}};
}

void print(const std::vector<ScrapeRow>& rows, const std::string& page, std::size_t bytes) {
    std::printf("%s, %zu bytes\n%-16s %9s %9s\n", page.c_str(), bytes, "what", "MB/s", "samples");
    for (const auto& r : rows) std::printf("%-16s %9.0f %9zu\n", r.what.c_str(), r.mb_per_s, r.samples);
}

template <class Row>
nlohmann::json all_to_json(const std::vector<Row>& rows) {
    auto list = nlohmann::json::array();
    for (const auto& row : rows) list.push_back(to_json(row));
    return list;
}

void run(const SearchOptions& options) {
    const auto rows = brink::bench::run_all_searches(options.strategies, options.seeds);
    if (options.output == "text") return print(rows);
    const nlohmann::json document{{"seeds", options.seeds}, {"rows", all_to_json(rows)}};
    std::printf("%s\n", document.dump(1).c_str());
}

void run(const ScrapeOptions& options) {
    const bool made = options.topics_bytes != 0;
    auto name = made ? std::string{BRINK_TEST_DATA} + "/metrics/" + kCapture : options.page;
    auto page = brink::bench::load_page(name);
    if (!page) throw std::runtime_error(page.error().message);
    if (made) page = brink::bench::grow_page(*page, options.topics_bytes);
    if (made) name += " with more topics and requests";
    const auto rows =
        brink::bench::run_scrape(*page, options.runs, std::chrono::milliseconds{options.run_ms});
    if (options.output == "text") return print(rows, name, page->size());
    const nlohmann::json document{{"page", name}, {"page_bytes", page->size()}, {"rows", all_to_json(rows)}};
    std::printf("%s\n", document.dump(1).c_str());
}

void add_output(CLI::App& command, std::string& output) {
    command.add_option("--output", output, "text or json")->check(CLI::IsMember({"text", "json"}));
}

void add_search(CLI::App& app, SearchOptions& options) {
    auto* command =
        app.add_subcommand("search", "strategies x shapes x noise: trials, error and coverage of each");
    command->add_option("--seeds", options.seeds, "searches a cell")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    command->add_option("--strategies", options.strategies, "which, separated by commas")
        ->delimiter(',')
        ->check(CLI::IsMember(brink::search_strategies()));
    add_output(*command, options.output);
    command->callback([&options] { run(options); });
}

void add_scrape(CLI::App& app, ScrapeOptions& options) {
    auto* command = app.add_subcommand(
        "scrape", "how fast a metrics page is read, in MB (10^6 bytes) a second of one core");
    auto* page = command->add_option(
        "--page", options.page, "a scrape in a file (.gz: inflated first); otherwise one of a real broker");
    command
        ->add_option(
            "--topics-page", options.topics_bytes,
            "instead, about so many bytes as of a broker with many topics, made from a short real page")
        ->check(CLI::Range(std::size_t{10'000}, std::size_t{1} << 29U))
        ->excludes(page);
    command->add_option("--runs", options.runs, "of which the median counts")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    command->add_option("--run-ms", options.run_ms, "CPU time of a run, at the least")
        ->check(CLI::Range(1, 60'000))
        ->capture_default_str();
    add_output(*command, options.output);
    command->callback([&options] { run(options); });
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"brink-bench: figures of brink itself, side by side"};
    app.set_version_flag("--version",
                         std::string("brink-bench ") + brink::kVersion + " (" + brink::kCommit + ")");
    app.require_subcommand(1);
    SearchOptions search;
    ScrapeOptions scrape;
    add_search(app, search);
    add_scrape(app, scrape);
    try {
        app.parse(argc, argv);
        return EXIT_SUCCESS;
    } catch (const CLI::ParseError& fault) {
        return app.exit(fault) == 0 ? EXIT_SUCCESS : kExitUsage;
    } catch (const std::exception& fault) {
        std::fprintf(stderr, "brink-bench: %s\n", fault.what());
        return EXIT_FAILURE;
    }
}

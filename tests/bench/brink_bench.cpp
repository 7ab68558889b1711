#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "brink_version.hpp"
#include "search/boundary_search.hpp"
#include "tests/bench/search_bench.hpp"

/// `brink-bench`: figures of brink itself, measured side by side in one run.
namespace {

constexpr int kExitUsage = 2;

nlohmann::json to_json(const brink::bench::SearchRow& row) {
    return {{"strategy", row.strategy},       {"shape", row.shape},           {"noise", row.noise},
            {"mean_trials", row.mean_trials}, {"p95_trials", row.p95_trials}, {"max_trials", row.max_trials},
            {"rms_error", row.rms_error},     {"coverage", row.coverage}};
}

void print(const std::vector<brink::bench::SearchRow>& rows) {
    std::printf("%-15s %5s  %-20s %7s %5s %5s %9s %9s\n", "shape", "noise", "strategy", "trials", "p95",
                "max", "rms_error", "coverage");
    for (const auto& r : rows)
        std::printf("%-15s %5.2f  %-20s %7.2f %5.0f %5d %9.4f %9.3f\n", r.shape.c_str(), r.noise,
                    r.strategy.c_str(), r.mean_trials, r.p95_trials, r.max_trials, r.rms_error, r.coverage);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"brink-bench: figures of brink itself, side by side"};
    app.set_version_flag("--version",
                         std::string("brink-bench ") + brink::kVersion + " (" + brink::kCommit + ")");
    app.require_subcommand(1);
    auto* search =
        app.add_subcommand("search", "strategies x shapes x noise: trials, error and coverage of each");
    int seeds = 1'000;
    std::string output = "text";
    std::vector<std::string> strategies = brink::search_strategies();
    search->add_option("--seeds", seeds, "searches a cell")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    search->add_option("--strategies", strategies, "which, separated by commas")
        ->delimiter(',')
        ->check(CLI::IsMember(brink::search_strategies()));
    search->add_option("--output", output, "text or json")->check(CLI::IsMember({"text", "json"}));
    try {
        app.parse(argc, argv);
        const auto rows = brink::bench::run_all_searches(strategies, seeds);
        if (output == "text") {
            print(rows);
            return EXIT_SUCCESS;
        }
        auto document = nlohmann::json{{"seeds", seeds}, {"rows", nlohmann::json::array()}};
        for (const auto& row : rows) document["rows"].push_back(to_json(row));
        std::printf("%s\n", document.dump(1).c_str());
        return EXIT_SUCCESS;
    } catch (const CLI::ParseError& fault) {
        return app.exit(fault) == 0 ? EXIT_SUCCESS : kExitUsage;
    } catch (const std::exception& fault) {
        std::fprintf(stderr, "brink-bench: %s\n", fault.what());
        return EXIT_FAILURE;
    }
}

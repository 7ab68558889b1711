#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

/// A sweep as lines of text. Pure: the controller's documents in, text out, so it is tested without a
/// terminal.
namespace brink::cli {

/// What the controller knew at one moment.
struct SweepSnapshot {
    nlohmann::json sweep;
    nlohmann::json points = nlohmann::json::array();
    nlohmann::json trials = nlohmann::json::array();
};

/// What only the watcher knows.
struct WatchNotes {
    std::vector<double> idle_history{};       ///< worst idle shares seen in the trial under way, oldest first
    std::optional<std::string> data_up_to{};  ///< local time of the last answer, while the controller is away
};

/// `01JDQ4 RUNNING  size 2/3  ████████░░░░░░░░░░░░ 43 %  14:22 elapsed, about 19:00 left`
std::string header_line(const nlohmann::json& sweep);
/// Twenty cells and the share of `elapsed_s` in it and `remaining_s` together, in percent.
std::string progress_bar(double elapsed_s, double remaining_s);
/// Heading and a row a size: bracket, limit, MB/s, what stopped it.
std::vector<std::string> point_table(const SweepSnapshot& snapshot);
/// What is going on, with countdown, idle, churn and the busiest agent. Empty when nothing is.
std::vector<std::string> current_lines(const SweepSnapshot& snapshot, const WatchNotes& notes);
/// Everything a terminal shows, cut to its width, and to its height around the size under way.
std::vector<std::string> watch_block(const SweepSnapshot& snapshot, const WatchNotes& notes,
                                     std::size_t columns, std::size_t rows);

/// One finished trial: `trial 3  1 kB  48 × 120/s  sustained  broker 2 IO idle 31%  5.76k msg/s`
std::string trial_line(const nlohmann::json& trial);
/// One finished point: `1 kB: 40 / 44 producers, 4.80k [4.80–5.28] msg/s, …`
std::string point_line(const nlohmann::json& point, const nlohmann::json& trials);
/// How a sweep ended: `01JDQ4 succeeded after 41:10, 3 of 3 sizes`
std::string end_line(const nlohmann::json& sweep);

/// The last eight values as bars ▁…█ between 0 and 1.
std::string sparkline(const std::vector<double>& shares);

}  // namespace brink::cli

#include "config/guard_config.hpp"

#include "config/toml_table.hpp"

namespace brink {
namespace {

constexpr double kMost = 1e15;

tl::expected<SignalGuard, Error> read_signal(TomlTable& table) {
    SignalGuard guard;
    guard.name = table.text("name").value_or("");
    if (guard.name.empty())
        table.fault("name", "is required: a signal as 'brink check' lists it, e.g. max_lag");
    guard.above = table.number("above", -kMost, kMost);
    guard.below = table.number("below", -kMost, kMost);
    if (guard.above.has_value() == guard.below.has_value())
        table.fault("above", "a guard needs exactly one of 'above' and 'below'");
    const auto ends = table.text("ends").value_or("trial");
    if (ends != "trial" && ends != "sweep")
        table.fault("ends", "must be \"trial\" or \"sweep\", not '" + ends + "'");
    guard.ends_sweep = ends == "sweep";
    if (auto ok = table.finish(); !ok) return tl::unexpected(ok.error());
    return guard;
}

}  // namespace

tl::expected<GuardConfig, Error> read_guards(TomlTable& table) {
    GuardConfig guards;
    if (auto v = table.number("offline_partitions_above", 0, kMost)) guards.offline_partitions_above = *v;
    if (auto v = table.number("under_min_isr_above", 0, kMost)) guards.under_min_isr_above = *v;
    if (auto v = table.number("log_disk_share_above", 0, 1)) guards.log_disk_share_above = *v;
    guards.foreign_mb_per_s_above = table.number("foreign_mb_per_s_above", 0, kMost);
    for (auto& child : table.tables("signal")) {
        auto guard = read_signal(child);
        if (!guard) return tl::unexpected(guard.error());
        guards.signals.push_back(std::move(*guard));
    }
    if (auto ok = table.finish(); !ok) return tl::unexpected(ok.error());
    return guards;
}

}  // namespace brink

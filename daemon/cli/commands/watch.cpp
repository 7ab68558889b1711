#include <chrono>

#include "daemon/cli/commands/commands.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/fields.hpp"
#include "daemon/cli/format.hpp"
#include "daemon/cli/sweep_lookup.hpp"
#include "daemon/cli/watch_log.hpp"

namespace brink::cli {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kPollEvery{1'000};
constexpr std::chrono::milliseconds kPollDeadline{5'000};
constexpr std::chrono::seconds kGiveUpAfter{60};

bool may_pass(ErrorCode code) {
    return code == ErrorCode::unavailable || code == ErrorCode::timed_out || code == ErrorCode::bad_reply;
}

/// Shows snapshots as they come: a repainted block, lines, JSON lines, or one document at the end.
class Display {
  public:
    explicit Display(Context& context) : host_{context.host}, output_{context.output} {}

    void show(const SweepSnapshot& snapshot) {
        const json& current = member(member(snapshot.sweep, "progress"), "current");
        if (integer(current, "trial") != trial_) notes_.idle_history.clear();
        trial_ = integer(current, "trial");
        if (const auto idle = number(current, "worst_idle")) notes_.idle_history.push_back(*idle);
        if (notes_.idle_history.size() > 8) notes_.idle_history.erase(notes_.idle_history.begin());
        if (notes_.data_up_to && !output_.repaints()) output_.note("connected again");
        notes_.data_up_to.reset();
        last_answer_ = host_.local_time();

        const auto events = log_.advance(snapshot);
        if (output_.repaints()) {
            repaint(snapshot);
        } else if (output_.format() != Format::json) {
            for (const auto& event : events) {
                if (output_.format() == Format::jsonl) {
                    output_.document(event);
                } else {
                    output_.line(event_line(event, snapshot));
                }
            }
        }
    }

    /// The controller does not answer; the last snapshot stays.
    void stale(const SweepSnapshot& snapshot) {
        const bool first = !notes_.data_up_to;
        notes_.data_up_to = last_answer_;
        if (output_.repaints()) {
            repaint(snapshot);
        } else if (first) {
            output_.note("reconnecting, data up to " + last_answer_);
        }
    }

    void end(const SweepSnapshot& snapshot) {
        if (output_.format() == Format::json) {
            output_.document({{"sweep", snapshot.sweep}, {"points", snapshot.points}});
        } else if (output_.repaints()) {
            output_.line(end_line(snapshot.sweep));
        }
    }

  private:
    void repaint(const SweepSnapshot& snapshot) {
        const auto block = watch_block(snapshot, notes_, static_cast<std::size_t>(host_.columns()),
                                       static_cast<std::size_t>(host_.rows()));
        // Up to the first line of the last block, clear to the end of the screen; one write, so nothing
        // flickers.
        std::string frame;
        if (painted_ > 0) frame += "\x1b[" + std::to_string(painted_) + "F";
        frame += "\x1b[J";
        for (const auto& line : block) frame += line + "\n";
        output_.raw(frame);
        painted_ = block.size();
    }

    const Host& host_;
    Output& output_;
    WatchLog log_;
    WatchNotes notes_;
    std::optional<std::int64_t> trial_;
    std::string last_answer_;
    std::size_t painted_ = 0;
};

CommandResult detached(const Context& context, const std::string& id) {
    context.output.note("Detached from " + id + "; it goes on. Follow it again: brink watch " + id +
                        "   Stop it: brink sweep cancel " + id);
    return kExitInterrupted;
}

/// The exit code of an ended sweep, with the next step on standard error.
int conclude(const Context& context, const SweepSnapshot& snapshot) {
    const std::string state = text(snapshot.sweep, "state");
    const std::string id = text(snapshot.sweep, "id");
    bool incomplete = state != "succeeded";
    for (const auto& point : snapshot.points) incomplete = incomplete || text(point, "state") == "failed";
    if (state == "failed") {
        context.output.note("What was tried: brink show " + id + " --trials");
        return kExitInconclusive;
    }
    context.output.note("Next: brink export " + id + " --csv -o curve.csv");
    if (state == "cancelled") return kExitCancelled;
    return incomplete ? kExitInconclusive : kExitOk;
}

}  // namespace

tl::expected<SweepSnapshot, Error> fetch_snapshot(const ControllerClient& controller, const std::string& id,
                                                  bool trials) {
    const std::string path = "/sweeps/" + path_segment(id);
    SweepSnapshot snapshot;
    auto sweep = controller.get(path, kPollDeadline);
    if (!sweep) return tl::unexpected{sweep.error()};
    snapshot.sweep = std::move(*sweep);
    const auto points = controller.get(path + "/points", kPollDeadline);
    if (!points) return tl::unexpected{points.error()};
    snapshot.points = list(*points, "points");
    if (!trials) return snapshot;
    const auto all = controller.get(path + "/trials", kPollDeadline);
    if (!all) return tl::unexpected{all.error()};
    snapshot.trials = list(*all, "trials");
    return snapshot;
}

CommandResult watch_sweep(Context& context, const std::string& id) {
    Display display{context};
    SweepSnapshot snapshot;
    auto last_answer = context.host.now();
    bool answered = false;
    while (true) {
        auto latest = fetch_snapshot(context.controller, id, true);
        if (latest) {
            snapshot = std::move(*latest);
            answered = true;
            last_answer = context.host.now();
            display.show(snapshot);
            if (has_ended(text(snapshot.sweep, "state"))) break;
        } else if (context.host.interrupted()) {
            return detached(context, id);
        } else if (!answered || !may_pass(latest.error().code) ||
                   context.host.now() - last_answer >= kGiveUpAfter) {
            return tl::unexpected{latest.error()};
        } else {
            display.stale(snapshot);
        }
        if (!context.host.pause(kPollEvery)) return detached(context, id);
    }
    display.end(snapshot);
    return conclude(context, snapshot);
}

CommandResult run_watch(Context& context, const Watch& command) {
    const auto id =
        command.id ? resolve_sweep(context.controller, *command.id) : newest_sweep(context.controller);
    if (!id) return tl::unexpected{id.error()};
    return watch_sweep(context, *id);
}

}  // namespace brink::cli

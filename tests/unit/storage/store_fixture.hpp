#pragma once
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "storage/sweep_store.hpp"

namespace brink::storage {

/// A directory of its own that goes with everything in it.
class TemporaryDirectory {
  public:
    TemporaryDirectory() {
        std::string name = (std::filesystem::temp_directory_path() / "brink-storage-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = std::filesystem::canonical(name);
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    [[nodiscard]] std::filesystem::path file(const char* name = "brink.db") const { return path_ / name; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(path_))
            names.push_back(entry.path().filename().string());
        return names;
    }

  private:
    std::filesystem::path path_;
};

inline std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
    std::ofstream stream(file, std::ios::binary | std::ios::trunc);
    stream << bytes;
}

/// Runs `body` in a child process; its answer is the exit status. Fork while no other thread runs.
class Child {
  public:
    explicit Child(const std::function<int()>& body) : id_(fork_flushed()) {
        if (id_ == 0) {
            int answer = 99;
            try {
                answer = body();
            } catch (...) {
            }
            _exit(answer);
        }
    }
    [[nodiscard]] pid_t id() const { return id_; }
    /// Waits for its end; −1 when a signal ended it.
    [[nodiscard]] int answer() const {
        int status = 0;
        if (waitpid(id_, &status, 0) != id_ || !WIFEXITED(status)) return -1;
        return WEXITSTATUS(status);
    }

  private:
    /// Else the child would print what the parent has not printed yet.
    static pid_t fork_flushed() {
        std::cout.flush();
        std::fflush(nullptr);
        return fork();
    }

    pid_t id_;
};

/// Two ends to say one thing at a time to another process.
class Pipe {
  public:
    Pipe() { REQUIRE(pipe(ends_.data()) == 0); }
    ~Pipe() {
        close(ends_[0]);
        close(ends_[1]);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    void say(int number) const { (void)!write(ends_[1], &number, sizeof number); }
    [[nodiscard]] int hear() const {
        int number = -1;
        return read(ends_[0], &number, sizeof number) == sizeof number ? number : -1;
    }

  private:
    std::array<int, 2> ends_{};
};

inline SweepRow a_sweep(const std::string& id) {
    return SweepRow{.id = id,
                    .cluster = "local",
                    .name = "before-upgrade",
                    .spec_json = R"({"margin":0.05})",
                    .topic = "brink-" + id,
                    .epoch = 3,
                    .created_at_ms = 1'700'000'000'123};
}

inline PointRow a_point(const std::string& id, int point, std::int64_t message_bytes = 1000) {
    return PointRow{.sweep_id = id, .point = point, .message_bytes = message_bytes};
}

inline TrialRow a_trial(const std::string& id, int trial, int point = 0) {
    return TrialRow{.sweep_id = id,
                    .trial = trial,
                    .point = point,
                    .producers = 50,
                    .rate_each = 123.456,
                    .message_bytes = 1000,
                    .chosen_because = "middle of 40 and 60",
                    .started_at_ms = 1'700'000'001'000};
}

inline TrialRow ended(TrialRow trial) {
    trial.state = "finished";
    trial.verdict = "sustained";
    trial.published_verdict = "sustained";
    trial.worst_idle = 1.0 / 3.0;
    trial.acked_msgs_per_s = 6172.8;
    trial.finished_at_ms = trial.started_at_ms + 120'000;
    return trial;
}

inline std::vector<SampleRow> some_samples(const TrialRow& trial, int brokers, int each) {
    std::vector<SampleRow> samples;
    for (int i = 0; i < each; ++i)
        for (int broker = 1; broker <= brokers; ++broker)
            samples.push_back(
                {.sweep_id = trial.sweep_id,
                 .trial = trial.trial,
                 .broker_id = broker,
                 .at_ms = trial.started_at_ms + 5000 * i,
                 .at_s = 0.1 + 5 * i,
                 .scrape_ms = 12.5,
                 .in_window = i > 2,
                 .signals_json = R"({"idle_ns":123456789012.0,"isr_shrinks":0,"bytes_in":1e9})"});
    return samples;
}

inline std::vector<AgentReportRow> some_reports(const TrialRow& trial) {
    return {
        {.sweep_id = trial.sweep_id, .trial = trial.trial, .agent = "a1", .report_json = R"({"acked":1})"},
        {.sweep_id = trial.sweep_id, .trial = trial.trial, .agent = "a2", .report_json = R"({"acked":2})"}};
}

/// Opens it, or fails the test with the reason.
inline std::unique_ptr<SweepStore> opened(const std::filesystem::path& file) {
    auto store = SweepStore::open(file, [] { return std::int64_t{1'700'000'009'000}; });
    const std::string why = store ? "" : store.error().message;
    INFO(why);
    REQUIRE(store);
    return std::move(*store);
}

/// A whole closed database with a sweep "s1" of two points, a finished trial and a running one.
inline void make_database(const std::filesystem::path& file) {
    const auto store = opened(file);
    REQUIRE(store->create_sweep(a_sweep("s1"), {a_point("s1", 0, 100), a_point("s1", 1, 1000)}));
    const TrialRow trial = a_trial("s1", 1);
    REQUIRE(store->begin_trial(trial));
    REQUIRE(store->finish_trial(ended(trial), some_samples(trial, 3, 12), some_reports(trial)));
    REQUIRE(store->begin_trial(a_trial("s1", 2)));
}

}  // namespace brink::storage

#include "agents/worker/tally.hpp"

#include <algorithm>

#include "agents/worker/monotonic.hpp"

namespace brink::worker {
namespace {

constexpr std::int64_t kUsPerSecond = 1'000'000;

std::uint64_t us_between(std::int64_t from_ns, std::int64_t to_ns) {
    return to_ns <= from_ns ? 0 : static_cast<std::uint64_t>(to_ns - from_ns) / 1'000;
}

void keep_slowest(std::map<int, double>& answer_ms, int broker, double ms) {
    auto& slowest = answer_ms[broker];
    slowest = std::max(slowest, ms);
}

}  // namespace

Tally::Tally(std::int64_t seconds)
    : seconds_(std::max<std::int64_t>(seconds, 1)),
      chunks_(static_cast<std::size_t>((seconds_ + kChunkSeconds - 1) / kChunkSeconds)) {}

SecondSlot& Tally::slot(std::int64_t second) {
    const auto index = std::clamp<std::int64_t>(second, 0, seconds_ - 1);
    auto& published = chunks_[static_cast<std::size_t>(index / kChunkSeconds)];
    auto* chunk = published.load(std::memory_order_relaxed);
    if (chunk == nullptr) {
        owned_.push_back(std::make_unique<Chunk>());
        chunk = owned_.back().get();
        published.store(chunk, std::memory_order_release);
    }
    return chunk->slots[index % kChunkSeconds];
}

void Tally::count_sent(std::int64_t due_ns, std::int64_t now_since_start_ns) {
    auto& second = slot(due_ns / kNsPerSecond);
    add_single_writer(second.sent, std::uint64_t{1});
    second.lag.add(us_between(due_ns, now_since_start_ns));
    add_single_writer(sent_, std::uint64_t{1});
}

void Tally::count_acked(std::int64_t due_us, std::int64_t now_ns) {
    auto& second = slot(due_us / kUsPerSecond);
    add_single_writer(second.acked, std::uint64_t{1});
    second.latency.add(us_between(start_ns_ + due_us * 1'000, now_ns));
    add_single_writer(acked_, std::uint64_t{1});
}

void Tally::count_failed(std::int64_t due_us, const char* code, const char* message) {
    add_single_writer(slot(due_us / kUsPerSecond).failed, std::uint64_t{1});
    add_single_writer(failed_, std::uint64_t{1});
    count_error(code, message);
}

void Tally::count_error(const char* code, const char* message) {
    const std::lock_guard lock(errors_mutex_);
    auto& error = errors_[code];
    if (error.count == 0) {
        error.code = code;
        error.message = message;
    }
    ++error.count;
}

void Tally::count_throttled(std::int64_t now_ns, int throttle_ms, std::int64_t from_ns, std::int64_t to_ns) {
    if (start_ns_ == 0) return;
    const auto end_ns = seconds_ * kNsPerSecond;
    if (const auto now = now_ns - start_ns_; now >= 0 && now < end_ns) {
        auto& second = slot(now / kNsPerSecond);
        add_single_writer(second.throttled_answers, std::uint64_t{1});
        const auto ms = static_cast<std::uint64_t>(throttle_ms);
        if (ms > second.longest_throttle_ms.load(std::memory_order_relaxed))
            second.longest_throttle_ms.store(ms, std::memory_order_relaxed);
    }
    // Some of it lies ahead: those seconds are reported when they have passed.
    const auto to = std::min(to_ns - start_ns_, end_ns);
    for (auto from = std::max<std::int64_t>(from_ns - start_ns_, 0); from < to;) {
        const auto second = from / kNsPerSecond;
        const auto piece_end = std::min(to, (second + 1) * kNsPerSecond);
        add_single_writer(slot(second).throttled_us, us_between(from, piece_end));
        from = piece_end;
    }
}

void Tally::note_answers(std::int64_t now_ns, const std::map<int, double>& answer_ms) {
    const auto second = (now_ns - start_ns_) / kNsPerSecond;
    if (start_ns_ == 0 || now_ns < start_ns_ || second >= seconds_) return;
    const std::lock_guard lock(answers_mutex_);
    for (const auto& [broker, ms] : answer_ms) keep_slowest(answer_ms_[second], broker, ms);
}

void Tally::note_stall(std::int64_t ns) {
    if (ns > stall_ns_.load(std::memory_order_relaxed)) stall_ns_.store(ns, std::memory_order_relaxed);
}

void Tally::add_to(protocol::SecondFigures& figures, protocol::HistogramCounts& lag) const {
    if (figures.second < 0 || figures.second >= seconds_) return;
    const auto* chunk =
        chunks_[static_cast<std::size_t>(figures.second / kChunkSeconds)].load(std::memory_order_acquire);
    if (chunk == nullptr) return;
    const auto& slot = chunk->slots[figures.second % kChunkSeconds];
    figures.acked += slot.acked.load(std::memory_order_relaxed);
    figures.failed += slot.failed.load(std::memory_order_relaxed);
    figures.sent += slot.sent.load(std::memory_order_relaxed);
    figures.unsent += slot.unsent.load(std::memory_order_relaxed);
    figures.queue_full += slot.queue_full.load(std::memory_order_relaxed);
    figures.scheduled += slot.scheduled.load(std::memory_order_relaxed);
    figures.throttled_ms += static_cast<double>(slot.throttled_us.load(std::memory_order_relaxed)) / 1'000;
    figures.throttled_answers += slot.throttled_answers.load(std::memory_order_relaxed);
    figures.longest_throttle_ms =
        std::max(figures.longest_throttle_ms,
                 static_cast<double>(slot.longest_throttle_ms.load(std::memory_order_relaxed)));
    {
        const std::lock_guard lock(answers_mutex_);
        if (const auto told = answer_ms_.find(figures.second); told != answer_ms_.end())
            for (const auto& [broker, ms] : told->second) keep_slowest(figures.answer_ms, broker, ms);
    }
    slot.lag.add_to(lag);
    slot.latency.add_to(figures.latency);
}

void Tally::add_errors_to(std::map<std::string, protocol::DeliveryError>& sum) const {
    const std::lock_guard lock(errors_mutex_);
    for (const auto& [code, error] : errors_) {
        auto& total = sum[code];
        total.code = error.code;
        if (total.message.empty()) total.message = error.message;
        total.count += error.count;
    }
}

}  // namespace brink::worker

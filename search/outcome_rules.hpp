#pragma once
#include "search/verdict.hpp"

// The rules of a verdict that look at what became of the load, on top of the published two. Private to
// judge().

namespace brink {

/// `quota`: brokers' quotas held our producers back. Makes the verdict `overloaded` unless it is switched
/// off; its figure is recorded in any case. Comes after the published rules.
void judge_quota(Verdict& verdict, const TrialWindow& window, const JudgeRules& rules);

/// `replication`: a broker reported partitions that lack followers without a break for longer than a follower
/// may lag. Makes the verdict `overloaded` unless it is switched off. Comes after `quota`.
void judge_replication(Verdict& verdict, const TrialWindow& window, const JudgeRules& rules);

/// Whether what was due was acknowledged. An overloaded cluster explains a shortfall; otherwise it needs
/// evidence to say whose fault it is: the agents' own makes it `generator_limited`; network threads that are
/// short of time, or a broker that had our requests in hand for most of the time, while the agents have room,
/// `overloaded` (unless switched off); without any it is `invalid`, with the suspects listed. Comes after all
/// that make `overloaded`.
void judge_delivery(Verdict& verdict, const TrialWindow& window, const JudgeRules& rules);

/// Whether a load that would be `sustained` was so all through the window. Messages that wait longer and
/// longer are a shortfall to come, and explained like one; whatever else rises makes it `invalid: not
/// steady`. Comes last.
void judge_steadiness(Verdict& verdict, const TrialWindow& window, const JudgeRules& rules);

}  // namespace brink

#pragma once
#include "search/verdict.hpp"

namespace brink {

/// One broker's figures in a window, but for its idle share, which needs the reading at rest. Pure; private
/// to judge(). What was not read is empty, or 0 where the figure cannot be.
BrokerFigures figures_of(const BrokerWindow& broker, const TrialWindow& window, const JudgeRules& rules);

}  // namespace brink

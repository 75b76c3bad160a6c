// The times and counts that a claim goes by; constants.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace lockc {

inline constexpr Millis kRetryLow{50};  // at most 20 tries a second against a server in trouble
inline constexpr Millis kRetryHigh{100};
inline constexpr Millis kPollBound{5'000};
inline constexpr Millis kPositionStep{20};  // keeps waiters from polling in step
inline constexpr Duration kSilence =
    std::chrono::seconds(30);  // a wait for ever ends without any answer
inline constexpr uint32_t kRefusalsUntilDrop = 3;
inline constexpr uint32_t kMaxNoscripts = 3;

}  // namespace lockc

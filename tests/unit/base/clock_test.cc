#include "base/clock.h"

#include <gtest/gtest.h>

namespace lockc {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kNow(1h);

TEST(After, PositiveWait_IsAdded) { EXPECT_EQ(after(kNow, 250ms), kNow + 250ms); }

TEST(After, NoWait_IsNow) { EXPECT_EQ(after(kNow, 0ms), kNow); }

TEST(After, NegativeWait_IsNever) { EXPECT_EQ(after(kNow, Millis(-1)), kNever); }

TEST(After, WaitBeyondTheClock_IsNever) {
  EXPECT_EQ(after(kNow, Millis::max()), kNever);
  EXPECT_EQ(after(kNever - 1ns, 1ms), kNever);
}

TEST(BootClock, Now_NeverGoesBack) {
  const BootClock clock;
  const TimePoint first = clock.now();
  EXPECT_LE(first, clock.now());
  EXPECT_GT(first, TimePoint());
}

}  // namespace
}  // namespace lockc

#include "net/backoff.h"

#include <gtest/gtest.h>

namespace lockc {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, Next_GrowsUpToItsBoundWithJitter) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    Backoff backoff(10ms, 50ms);
    for (const Millis step : {10ms, 20ms, 40ms, 50ms, 50ms}) {
      const Millis wait = backoff.next(random);
      EXPECT_GE(wait, std::max<Millis>(10ms, step / 2));
      EXPECT_LE(wait, step);
    }
  }
}

TEST(Backoff, Next_TwoClients_GoOutOfStep) {
  Random one(1);
  Random other(2);
  Backoff first(1ms, 10s);
  Backoff second(1ms, 10s);
  int same = 0;
  for (int i = 0; i < 14; ++i) same += first.next(one) == second.next(other) ? 1 : 0;
  EXPECT_LT(same, 7);
}

TEST(Backoff, Reset_BeginsAnew) {
  Random random(1);
  Backoff backoff(10ms, 1s);
  for (int i = 0; i < 10; ++i) (void)backoff.next(random);
  backoff.reset();
  EXPECT_EQ(backoff.next(random), 10ms);
}

}  // namespace
}  // namespace lockc

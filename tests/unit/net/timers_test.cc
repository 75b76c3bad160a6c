#include "net/timers.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "base/random.h"

namespace lockc {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart(1h + 123us);

// Tells its name when it fires.
struct NamedTimer : Timer {
  NamedTimer(Timers& timers, std::vector<size_t>& to, size_t n)
      : Timer(timers, [this] { fired.push_back(name); }), fired(to), name(n) {}
  std::vector<size_t>& fired;
  const size_t name;
};

struct TimersTest : testing::Test {
  std::unique_ptr<NamedTimer> timer(size_t name) {
    return std::make_unique<NamedTimer>(timers, fired, name);
  }

  Timers timers{kStart};
  std::vector<size_t> fired;
};

TEST_F(TimersTest, Run_FiresInOrderOfTime) {
  const auto late = timer(3);
  const auto early = timer(1);
  const auto middle = timer(2);
  late->arm(kStart + 90min);
  early->arm(kStart + 5ms);
  middle->arm(kStart + 70ms);
  timers.run(kStart + 2h);
  EXPECT_EQ(fired, (std::vector<size_t>{1, 2, 3}));
}

TEST_F(TimersTest, Run_BeforeTheTime_FiresNothing) {
  const auto one = timer(1);
  one->arm(kStart + 5ms);
  timers.run(kStart + 5ms - 1ns);
  EXPECT_TRUE(fired.empty());
  timers.run(kStart + 6ms);
  EXPECT_EQ(fired, (std::vector<size_t>{1}));
  EXPECT_FALSE(one->armed());
}

TEST_F(TimersTest, Arm_InThePast_FiresInTheNextRun) {
  const auto one = timer(1);
  one->arm(TimePoint());
  EXPECT_LE(timers.next(), kStart);
  timers.run(kStart);
  timers.run(kStart + 1ms);
  EXPECT_EQ(fired, (std::vector<size_t>{1}));
}

TEST_F(TimersTest, Arm_Again_ForgetsTheFormerTime) {
  const auto one = timer(1);
  one->arm(kStart + 5ms);
  one->arm(kStart + 1h);
  timers.run(kStart + 1min);
  EXPECT_TRUE(fired.empty());
  timers.run(kStart + 2h);
  EXPECT_EQ(fired, (std::vector<size_t>{1}));
}

TEST_F(TimersTest, Arm_Never_Cancels) {
  const auto one = timer(1);
  one->arm(kStart + 5ms);
  one->arm(kNever);
  EXPECT_FALSE(one->armed());
  EXPECT_EQ(timers.next(), kNever);
}

TEST_F(TimersTest, Cancel_OneOfSeveralAtOneTime_LeavesTheOthers) {
  const auto one = timer(1);
  auto two = timer(2);
  const auto three = timer(3);
  const auto four = timer(4);
  for (Timer* each : {one.get(), two.get(), three.get(), four.get()}) each->arm(kStart + 5ms);
  one->cancel();
  two.reset();
  timers.run(kStart + 6ms);
  EXPECT_EQ(fired, (std::vector<size_t>{3, 4}));
}

TEST_F(TimersTest, Task_ThatArmsForThePast_FiresInTheSameRun) {
  struct Again : Timer {
    explicit Again(Timers& timers)
        : Timer(timers, [this] {
            if (--left > 0) arm(kStart);
          }) {}
    int left = 3;
  } again(timers);
  again.arm(kStart + 5ms);
  timers.run(kStart + 10ms);
  EXPECT_EQ(again.left, 0);
}

TEST_F(TimersTest, Task_ThatArmsAtRegularTimes_CatchesUpInOneRun) {
  struct Ticker : Timer {
    explicit Ticker(Timers& timers)
        : Timer(timers, [this] {
            ++ticks;
            arm(due += 100ms);
          }) {}
    TimePoint due = kStart;
    int ticks = 0;
  } ticker(timers);
  ticker.arm(ticker.due);
  timers.run(kStart + 1s);
  EXPECT_GE(ticker.ticks, 10);
  EXPECT_LE(ticker.ticks, 11);
}

TEST_F(TimersTest, Task_ThatCancelsAnotherOfTheSameTime_KeepsItFromFiring) {
  const auto victim = timer(2);
  Timer killer(timers, [&] { victim->cancel(); });
  killer.arm(kStart + 5ms);
  victim->arm(kStart + 5ms);
  timers.run(kStart + 1s);
  EXPECT_TRUE(fired.empty());
}

TEST_F(TimersTest, Run_JumpOfMonths_FiresAllThatIsDueInOrder) {
  const auto soon = timer(1);
  const auto month = timer(2);
  const auto year = timer(3);
  const auto decade = timer(4);
  decade->arm(kStart + 24h * 3650);
  year->arm(kStart + 24h * 365);
  month->arm(kStart + 24h * 30);
  soon->arm(kStart + 1ms);
  timers.run(kStart + 24h * 200);
  EXPECT_EQ(fired, (std::vector<size_t>{1, 2}));
  timers.run(kStart + 24h * 366);
  EXPECT_EQ(fired, (std::vector<size_t>{1, 2, 3}));
  timers.run(kStart + 24h * 3651);
  EXPECT_EQ(fired, (std::vector<size_t>{1, 2, 3, 4}));
}

TEST_F(TimersTest, Run_ClockThatStandsStillOrGoesBack_IsHarmless) {
  const auto one = timer(1);
  one->arm(kStart + 5ms);
  timers.run(kStart);
  timers.run(TimePoint());
  EXPECT_TRUE(fired.empty());
  timers.run(kStart + 6ms);
  EXPECT_EQ(fired, (std::vector<size_t>{1}));
}

// Against a sorted map as the model: the same timers fire in the same run, none early, and next()
// is never later than the first.
TEST(TimersProperty, RandomSteps_BehaveLikeASortedMap) {
  Random random(2024);
  const auto below = [&random](uint64_t bound) { return random.next() % bound; };
  for (int round = 0; round < 20; ++round) {
    TimePoint now = kStart + Millis(static_cast<int64_t>(below(1'000'000'000)));
    Timers timers(now);
    std::multimap<TimePoint, size_t> model;
    std::map<size_t, std::multimap<TimePoint, size_t>::iterator> armed;
    std::vector<size_t> fired;
    std::vector<std::unique_ptr<NamedTimer>> by_name;
    for (size_t name = 0; name < 64; ++name) {
      by_name.push_back(std::make_unique<NamedTimer>(timers, fired, name));
    }
    const auto forget = [&](size_t name) {
      if (const auto at = armed.find(name); at != armed.end()) {
        model.erase(at->second);
        armed.erase(at);
      }
    };
    for (int step = 0; step < 2'000; ++step) {
      const size_t name = below(by_name.size());
      if (below(4) != 0) {
        const auto reach = uint64_t{1} << below(40);  // up to decades, mostly much less
        const TimePoint when = now + Millis(static_cast<int64_t>(below(reach)));
        forget(name);
        by_name[name]->arm(when);
        armed[name] = model.emplace(when, name);
      } else {
        forget(name);
        by_name[name]->cancel();
      }
      if (!model.empty()) {
        ASSERT_LE(timers.next(), model.begin()->first + 1ms);
      } else {
        ASSERT_EQ(timers.next(), kNever);
      }
      if (below(3) != 0) continue;
      now += Millis(static_cast<int64_t>(below(uint64_t{1} << below(36))));
      fired.clear();
      timers.run(now);
      TimePoint before{};
      for (const size_t one : fired) {
        const auto at = armed.find(one);
        ASSERT_NE(at, armed.end()) << "fired without being armed";
        const TimePoint due = at->second->first;
        ASSERT_LE(due, now) << "fired early";
        ASSERT_GE(std::chrono::ceil<Millis>(due.time_since_epoch()),
                  std::chrono::ceil<Millis>(before.time_since_epoch()))
            << "fired out of order";
        before = due;
        forget(one);
      }
      if (!model.empty()) {
        ASSERT_GT(model.begin()->first + 1ms, now) << "not fired";
      }
    }
  }
}

}  // namespace
}  // namespace lockc

// A lock that is let go without waiting for the answer: what is told at once, what behind.
#include <gtest/gtest.h>

#include "../support/client_rig.h"

namespace lockc {
namespace {

using namespace test;

struct NowaitTest : testing::Test {
  // Held, with somebody who hears of its loss.
  Operation held() {
    AcquireRequest request = rig.request();
    request.events = events;
    return rig.held(std::move(request));
  }

  const std::shared_ptr<Recorder> events = std::make_shared<Recorder>();
  ClientRig rig;
};

TEST_F(NowaitTest, IsSentAndOverHereAtOnce) {
  const Operation one = held();
  EXPECT_EQ(rig.release_nowait(one.grant()), Status::kOk);
  EXPECT_EQ(rig.call().script, &scripts::release);
  EXPECT_EQ(one.grant()->remaining(rig.clock.now()), Duration::zero());
  EXPECT_EQ(rig.release_nowait(one.grant()), Status::kNotHeld);
  rig.answer(released());
  EXPECT_FALSE(events->is_told());
  EXPECT_EQ(one.grant()->loss(), LossReason::kNone);
}

TEST_F(NowaitTest, NotOurs_IsToldOnceAsALoss) {
  const Operation one = held();
  rig.release_nowait(one.grant());
  rig.answer(released(false));
  EXPECT_EQ(one.grant()->loss(), LossReason::kTaken);
  ASSERT_EQ(events->told.size(), 1U);
  EXPECT_EQ(events->told[0].kind, Completion::Kind::kLost);
}

TEST_F(NowaitTest, NotOurs_IsToldThoughNobodyHasTheGrantAnyMore) {
  Operation one = held();
  rig.release_nowait(one.grant());
  one.recorder->told.clear();
  rig.answer(released(false));
  EXPECT_EQ(events->told.size(), 1U);
}

TEST_F(NowaitTest, LostBefore_IsToldAtOnceAndByNews) {
  const Operation one = held();
  rig.clock.advance(1min);
  EXPECT_EQ(rig.release_nowait(one.grant()), Status::kLost);
  EXPECT_EQ(events->told.size(), 1U);
  EXPECT_EQ(rig.call().script, &scripts::release) << "whatever the server still has";
}

TEST_F(NowaitTest, NoAnswer_IsReleasedAgainAndNoLossThen) {
  const Operation one = held();
  rig.release_nowait(one.grant());
  rig.settle();
  rig.command_link()->close();
  rig.advance(100ms);
  EXPECT_EQ(rig.answer(released(false)).owner(), one.grant()->owner());
  EXPECT_FALSE(events->is_told());
}

TEST_F(NowaitTest, NoConnection_IsSentWhenThereIsOne) {
  const Operation one = held();
  rig.command_link()->close();
  EXPECT_EQ(rig.release_nowait(one.grant()), Status::kOk);
  rig.net.links.back()->close("Connection refused");
  rig.advance(200ms);
  EXPECT_EQ(rig.answer(released()).owner(), one.grant()->owner());
}

TEST_F(NowaitTest, ReleaseBehind_WaitsForTheEnd) {
  const Operation one = held();
  rig.release_nowait(one.grant());
  const Operation release = rig.release(one.grant());
  EXPECT_FALSE(release.is_told());
  rig.answer(released(false));
  EXPECT_EQ(release.status(), Status::kLost);
  EXPECT_EQ(rig.release(one.grant()).status(), Status::kNotHeld);
}

TEST_F(NowaitTest, ReleaseBehindTheAnswer_LearnsTheEndOnce) {
  for (const bool ours : {true, false}) {
    const Operation one = held();
    rig.release_nowait(one.grant());
    rig.answer(released(ours));
    EXPECT_EQ(rig.release(one.grant()).status(), ours ? Status::kOk : Status::kLost);
    EXPECT_EQ(rig.release(one.grant()).status(), Status::kNotHeld);
  }
}

TEST_F(NowaitTest, LocalWaiter_TakesOverInMemory) {
  AcquireRequest request = rig.request();
  request.events = events;
  const Operation one = rig.held(request, 10, 8);
  const Operation next = rig.acquire(rig.waiting(1min));
  EXPECT_EQ(rig.release_nowait(one.grant()), Status::kOk);
  EXPECT_EQ(next.token(), 11U);
  EXPECT_TRUE(rig.calls().empty());
  rig.jump(1min);
  EXPECT_FALSE(events->is_told()) << "the lease is the next holder's";
}

TEST_F(NowaitTest, NotOursToARequeue_IsToldAsALoss) {
  const Operation other = rig.queued_up(rig.waiting(1min, "other"));
  const Operation one = held();
  const Operation next = rig.acquire(rig.waiting(1min));
  rig.release_nowait(one.grant());
  EXPECT_EQ(rig.call().script, &scripts::requeue);
  rig.answer(array({integer(0), queued({})}));
  EXPECT_EQ(events->told.size(), 1U);
  EXPECT_EQ(rig.release(one.grant()).status(), Status::kLost);
}

TEST_F(NowaitTest, OfAReentrantOwner_CountsDown) {
  AcquireRequest request = rig.request();
  request.owner = 7;
  const Operation outer = rig.held(request);
  const Operation inner = rig.acquire(request);
  EXPECT_EQ(rig.release_nowait(inner.grant()), Status::kOk);
  EXPECT_TRUE(rig.calls().empty());
  EXPECT_EQ(rig.release_nowait(outer.grant()), Status::kOk);
  EXPECT_EQ(rig.call().script, &scripts::release);
}

// Over another connection it might come first, and find the key taken.
TEST_F(NowaitTest, NextAcquireOfTheKey_GoesBehindTheRelease) {
  const Operation one = held();
  const auto first = rig.command_link();
  first->lends = true;
  rig.acquire(rig.request("other"));
  const auto reader = rig.node.latest();
  ASSERT_NE(reader->borrow(), nullptr);
  rig.acquire(rig.request("third"));  // behind it, and opens a second connection
  rig.settle();
  const auto second = rig.net.links.back();
  ASSERT_NE(second, first);
  rig.release_nowait(one.grant());
  ASSERT_EQ(second->unanswered.size(), 1U);
  rig.turn([&] { reader->give_back(); });
  rig.acquire(rig.request());
  EXPECT_EQ(second->unanswered.size(), 2U);
  rig.acquire(rig.request("fourth"));
  EXPECT_EQ(second->unanswered.size(), 2U) << "only what is about the same key";
}

TEST_F(NowaitTest, Close_AwaitsTheAnswerAndTellsTheLoss) {
  const Operation one = held();
  rig.release_nowait(one.grant());
  int idle = 0;
  rig.turn([&] { rig.registry.close([&] { ++idle; }); });
  EXPECT_EQ(idle, 0);
  rig.answer(released(false));
  EXPECT_EQ(idle, 1);
  EXPECT_EQ(events->told.size(), 1U);
}

}  // namespace
}  // namespace lockc

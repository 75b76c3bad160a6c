// The end of a client: everything owed is told, everything held goes back.
#include <gtest/gtest.h>

#include "../support/client_rig.h"

namespace lockc {
namespace {

using namespace test;

struct ClosingTest : testing::Test {
  void close() {
    rig.turn([this] { rig.registry.close([this] { ++idle; }); });
  }
  ClientRig rig;
  int idle = 0;
};

TEST_F(ClosingTest, NothingToDo_IsIdleAtOnce) {
  close();
  EXPECT_EQ(idle, 1);
}

TEST_F(ClosingTest, Waiters_AreToldClosed) {
  const Operation seated = rig.queued_up(rig.waiting(1min));
  const Operation behind = rig.acquire(rig.waiting(1min));
  close();
  EXPECT_EQ(seated.status(), Status::kClosed);
  EXPECT_EQ(behind.status(), Status::kClosed);
  EXPECT_EQ(rig.answer(released(false)).script, &scripts::release);
  EXPECT_EQ(idle, 1);
  EXPECT_EQ(rig.registry.entries(), 0U);
}

TEST_F(ClosingTest, AskThatWasNeverSent_NeedsNoAnswer) {
  const Operation one = rig.acquire(rig.waiting(1min));
  close();
  EXPECT_EQ(one.status(), Status::kClosed);
  EXPECT_EQ(idle, 1) << "told once";
}

TEST_F(ClosingTest, Held_IsLostHereAndReleasedAtTheServer) {
  AcquireRequest request = rig.request();
  const auto events = std::make_shared<Recorder>();
  request.events = events;
  const Operation one = rig.held(request);
  close();
  EXPECT_EQ(one.grant()->loss(), LossReason::kClosed);
  EXPECT_EQ(events->told.size(), 1U);
  EXPECT_EQ(idle, 0);
  EXPECT_EQ(rig.answer(released()).owner(), one.grant()->owner());
  EXPECT_EQ(idle, 1);
}

TEST_F(ClosingTest, ReleaseUnderWay_IsAwaited) {
  const Operation one = rig.held(rig.request());
  const Operation release = rig.release(one.grant());
  close();
  EXPECT_EQ(idle, 0);
  rig.answer(released());
  EXPECT_EQ(release.status(), Status::kOk);
  EXPECT_EQ(idle, 1);
}

TEST_F(ClosingTest, ReleaseThatFails_IsNotRepeated) {
  rig.held(rig.request());
  close();
  rig.settle();
  rig.command_link()->close();
  rig.jump(0ms);
  EXPECT_EQ(idle, 1);
}

TEST_F(ClosingTest, ReleaseThatFailed_HasOneMoreTryAtOnce) {
  const Operation one = rig.held(rig.request());
  rig.release(one.grant());
  rig.answer(error("ERR x"));
  const Operation again = rig.release(one.grant());
  close();
  EXPECT_FALSE(again.is_told());
  rig.answer(released());
  EXPECT_EQ(again.status(), Status::kOk);
  EXPECT_EQ(idle, 1);
}

TEST_F(ClosingTest, ReleaseThatFailed_IsToldThoughTheServerIsGone) {
  const Operation one = rig.held(rig.request());
  rig.release(one.grant());
  rig.answer(error("ERR x"));
  const Operation again = rig.release(one.grant());
  close();
  rig.turn([this] { rig.node.close(); });
  ASSERT_TRUE(again.is_told());
  EXPECT_LT(static_cast<int>(again.status()), 0);
}

TEST_F(ClosingTest, Afterwards_AcquireIsClosed) {
  close();
  EXPECT_EQ(rig.acquire(rig.request()).status(), Status::kClosed);
}

TEST_F(ClosingTest, WakeChannel_IsNotOpenedAgain) {
  rig.queued_up(rig.waiting(1min));
  close();
  rig.turn([this] {
    rig.node.close();
    rig.wake.close();
  });
  const size_t links = rig.net.links.size();
  rig.advance(1min);
  EXPECT_EQ(rig.net.links.size(), links);
}

}  // namespace
}  // namespace lockc

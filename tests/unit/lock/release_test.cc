// How a lock is given back, whatever the server says to it.
#include <gtest/gtest.h>

#include "../support/client_rig.h"

namespace lockc {
namespace {

using namespace test;

struct ReleaseTest : testing::Test {
  ClientRig rig;
};

TEST_F(ReleaseTest, Released_IsToldWhenTheServerSaysSo) {
  const Operation one = rig.held(rig.request());
  const Operation release = rig.release(one.grant());
  EXPECT_FALSE(release.is_told());
  EXPECT_EQ(one.grant()->remaining(rig.clock.now()), Duration::zero());
  EXPECT_EQ(rig.answer(released()).owner(), one.grant()->owner());
  EXPECT_EQ(release.status(), Status::kOk);
  EXPECT_EQ(rig.release(one.grant()).status(), Status::kNotHeld);
  EXPECT_EQ(rig.registry.entries(), 0U);
}

TEST_F(ReleaseTest, NotOurs_ToTheFirstRelease_IsLost) {
  const Operation one = rig.held(rig.request());
  const Operation release = rig.release(one.grant());
  rig.answer(released(false));
  EXPECT_EQ(release.status(), Status::kLost);
}

TEST_F(ReleaseTest, NotOurs_ToAResentRelease_IsReleased) {
  const Operation one = rig.held(rig.request());
  const Operation first = rig.release(one.grant());
  rig.settle();
  rig.command_link()->close();
  EXPECT_EQ(first.status(), Status::kUncertain);
  rig.advance(100ms);
  rig.settle();
  const Operation again = rig.release(one.grant());
  rig.answer(released(false));
  EXPECT_EQ(again.status(), Status::kOk);
}

TEST_F(ReleaseTest, FirstRelease_ThatOnlyGoesOutBehindTheLease_CannotTellLost) {
  AcquireRequest request = rig.request("k", 1s);
  request.renew = false;
  const Operation one = rig.held(request);
  rig.command_link()->close();
  const Operation first = rig.release(one.grant());
  rig.net.links.back()->close("Connection refused");
  EXPECT_EQ(first.status(), Status::kUnreachable);
  rig.jump(2s);
  rig.settle();
  const Operation again = rig.release(one.grant());
  rig.answer(released(false));
  EXPECT_EQ(again.status(), Status::kOk);
}

TEST_F(ReleaseTest, SecondCaller_HearsTheSameEnd) {
  const Operation one = rig.held(rig.request());
  const Operation first = rig.release(one.grant());
  const Operation second = rig.release(one.grant());
  EXPECT_FALSE(second.is_told());
  rig.answer(released());
  EXPECT_EQ(first.status(), Status::kOk);
  EXPECT_EQ(second.status(), Status::kOk);
}

TEST_F(ReleaseTest, UnknownEnd_CanBeLearntOnceLater) {
  const Operation one = rig.held(rig.request());
  rig.release(one.grant());
  rig.settle();
  rig.command_link()->close();
  rig.advance(100ms);
  rig.answer(released());
  EXPECT_EQ(rig.release(one.grant()).status(), Status::kOk);
  EXPECT_EQ(rig.release(one.grant()).status(), Status::kNotHeld);
}

TEST_F(ReleaseTest, NoAnswer_IsResentBehindTheEndOfTheBrokenConnection) {
  const Operation one = rig.held(rig.request());
  rig.release(one.grant());
  rig.settle();
  rig.command_link()->close();
  rig.advance(100ms);
  const auto link = rig.net.links.back();
  link->open();
  for (int i = 0; i < 2; ++i) link->answer("+OK\r\n");
  link->answer(bulk("redis_version:7.0.15\r\nrun_id:run-1\r\n"));
  ASSERT_EQ(link->unanswered.size(), 2U);
  EXPECT_EQ(link->unanswered[0], (Request{"CLIENT", "KILL", "ID", "1"}));
  EXPECT_EQ(read_call(link, link->unanswered[1])->owner(), one.grant()->owner());
}

TEST_F(ReleaseTest, NeverAnswered_IsResentUntilTheLeaseIsSurelyOver) {
  for (const auto& [ttl, bound] : {std::pair<Millis, Millis>{30s, 30s}, {1s, 3s}}) {
    ClientRig fresh;
    const Operation one = fresh.held(fresh.request("k", ttl));
    fresh.release(one.grant());
    const TimePoint began = fresh.clock.now();
    TimePoint last = began;
    while (fresh.clock.now() - began < 1min) {
      fresh.settle();
      if (!fresh.calls().empty()) {
        last = fresh.clock.now();
        fresh.command_link()->close();
      }
      fresh.advance(50ms);
    }
    EXPECT_GE(last - began, bound - 200ms);
    EXPECT_LE(last - began, bound + 200ms);
  }
}

TEST_F(ReleaseTest, ThreeRefusals_FallBackToDrop) {
  const Operation one = rig.held(rig.request());
  const Operation release = rig.release(one.grant());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rig.answer(error("LOADING x")).script, &scripts::release);
    rig.advance(100ms);
  }
  EXPECT_EQ(release.status(), Status::kNotReady);
  const ScriptCall call = rig.call();
  EXPECT_EQ(call.script, &scripts::drop);
  EXPECT_EQ(call.owner(), one.grant()->owner());
  EXPECT_EQ(call.keys, std::vector<std::string>{"k"});
  rig.answer(integer(1));
  rig.advance(1min);
  EXPECT_TRUE(rig.calls().empty());
}

TEST_F(ReleaseTest, ForgottenScript_IsSentAgainAtOnceAndStillTheFirst) {
  const Operation one = rig.held(rig.request());
  const Operation release = rig.release(one.grant());
  rig.answer(error("NOSCRIPT No matching script."));
  EXPECT_FALSE(release.is_told());
  rig.answer(released(false));
  EXPECT_EQ(release.status(), Status::kLost);
}

TEST_F(ReleaseTest, ReplyOfAnotherShape_IsNoLoss) {
  const Operation one = rig.held(rig.request());
  const Operation release = rig.release(one.grant());
  rig.answer(bulk("what"));
  EXPECT_EQ(release.status(), Status::kServer);
  EXPECT_EQ(one.grant()->loss(), LossReason::kNone);
}

TEST_F(ReleaseTest, OfALostLease_TellsSoAndCleansUpBehind) {
  const Operation one = rig.held(rig.request());
  rig.jump(1min);
  rig.settle();
  EXPECT_EQ(rig.release(one.grant()).status(), Status::kLost);
  EXPECT_EQ(rig.call().script, &scripts::release);
}

}  // namespace
}  // namespace lockc

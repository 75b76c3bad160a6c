// What wake messages do: the protocol's client rules 1 and 3 to 5.
#include <gtest/gtest.h>

#include "../support/client_rig.h"

namespace lockc {
namespace {

using namespace test;

struct WakingTest : testing::Test {
  std::string owner_of(const Operation& operation) const {
    return operation.waiter->claim.lock()->owner().text();
  }
  ClientRig rig;
};

TEST_F(WakingTest, GrantMadeAfterTheAnsweredPoll_EntersAndCountsFromThatPoll) {
  const Operation one = rig.queued_up(rig.waiting(1min), {.mark = 100});
  rig.jump(2s);
  rig.message(owner_of(one), 101, 8);
  ASSERT_EQ(one.status(), Status::kOk);
  EXPECT_EQ(one.token(), 101U);
  EXPECT_EQ(one.grant()->remaining(rig.clock.now()), Ttl::make(30'000)->proven() - 2s);
  EXPECT_TRUE(rig.calls().empty()) << "no round trip, no renewal";
}

TEST_F(WakingTest, GrantOfNoTokens_IsNotHandedOver) {
  const Operation one = rig.queued_up(rig.waiting(1min), {.mark = 100});
  const Operation two = rig.acquire(rig.waiting(1min));
  rig.message(owner_of(one), 101, 0);
  ASSERT_EQ(one.status(), Status::kOk);
  rig.release(one.grant());
  EXPECT_FALSE(two.is_told());
}

TEST_F(WakingTest, GrantMadeBeforeTheAnsweredPoll_IsIgnored) {
  const Operation one = rig.queued_up(rig.waiting(1min), {.mark = 100});
  rig.message(owner_of(one), 100, 8);
  EXPECT_FALSE(one.is_told());
  EXPECT_TRUE(rig.calls().empty());
}

TEST_F(WakingTest, GrantThatOvertakesItsPollsAnswer_IsKeptAndMeasuredByThatAnswer) {
  for (const auto& [mark, counts] : {std::pair{299U, true}, {300U, false}}) {
    ClientRig fresh;
    const Operation one = fresh.queued_up(fresh.waiting(1min), {.mark = 400});
    fresh.advance(5001ms);
    fresh.message(owner_of(one), 300, 1);
    EXPECT_FALSE(one.is_told());
    fresh.answer(queued({.mark = mark}));
    EXPECT_EQ(one.is_told(), counts);
  }
}

TEST_F(WakingTest, GrantBeforeAnyAnswerWithAMark_WaitsForIt) {
  const Operation one = rig.acquire(rig.waiting(1min));
  rig.answer(busy());
  rig.message(owner_of(one), 500, 1);
  EXPECT_FALSE(one.is_told());
  rig.answer(queued({.mark = 499}));
  EXPECT_EQ(one.token(), 500U);
}

TEST_F(WakingTest, ForeignHolderGone_ByAKeyspaceNotification_AsksAtOnce) {
  rig.queued_up(rig.waiting(1min), {.lockc = false});
  const auto link = rig.wake_link();
  rig.settle();
  EXPECT_EQ(rig.channels.count("__keyspace@0__:k"), 1U);
  const auto notify = [&](const std::string& key, const std::string& event) {
    link->push(array({bulk("message"), bulk("__keyspace@0__:" + key), bulk(event)}));
  };
  notify("k", "set");
  notify("another", "del");
  EXPECT_TRUE(rig.calls().empty());
  notify("k", "del");
  ASSERT_EQ(rig.calls().size(), 1U);
  rig.answer(granted(7, 1));
  rig.settle();
  EXPECT_EQ(rig.channels.count("__keyspace@0__:k"), 0U);
}

TEST_F(WakingTest, KeyspaceDenied_LeavesTheSubscriptionAndTheBackOff) {
  rig.queued_up(rig.waiting(1min), {.lockc = false});
  rig.wake_link()->push(error("NOPERM no such channel"));
  EXPECT_TRUE(rig.wake.is_confirmed());
  rig.advance(5ms);
  EXPECT_EQ(rig.calls().size(), 1U);
}

TEST_F(WakingTest, GrantBeyondTheProvenTime_IsPolledInstead) {
  const Operation one = rig.queued_up(rig.waiting(10min, "k", 100ms), {.mark = 100});
  rig.clock.advance(97ms);
  const std::string owner = owner_of(one);
  rig.message(owner, 101, 8);
  EXPECT_FALSE(one.is_told());
  rig.answer(granted(110, 8));
  EXPECT_EQ(one.token(), 110U);
}

TEST_F(WakingTest, FirstGrant_IsTheGrant_ALaterMessageIsIgnored) {
  const Operation one = rig.queued_up(rig.waiting(1min), {.mark = 100});
  const std::string owner = owner_of(one);
  rig.message(owner, 101, 1);
  rig.message(owner, 102, 1);
  EXPECT_EQ(one.recorder->told.size(), 1U);
  EXPECT_EQ(one.token(), 101U);
  EXPECT_TRUE(rig.calls().empty()) << "a held value is not given back";
}

TEST_F(WakingTest, FirstGrant_ByMessage_ALaterReplyIsIgnored) {
  const Operation one = rig.queued_up(rig.waiting(1min), {.mark = 100});
  const std::string owner = owner_of(one);
  rig.advance(5001ms);
  rig.message(owner, 101, 1);
  ASSERT_EQ(one.token(), 101U);
  rig.answer(granted(150, 8));
  EXPECT_EQ(one.recorder->told.size(), 1U);
  EXPECT_TRUE(rig.calls().empty());
}

TEST_F(WakingTest, GrantWhileTheReleaseIsUnderWay_IsIgnored) {
  const Operation one = rig.queued_up(rig.waiting(1min), {.mark = 100});
  const std::string owner = owner_of(one);
  rig.cancel(one);
  rig.message(owner, 101, 1);
  EXPECT_EQ(rig.calls().size(), 1U) << "one release";
}

TEST_F(WakingTest, GrantForAnUnknownOwner_IsAnsweredWithRelease) {
  rig.queued_up(rig.waiting(1min));
  const std::string owner = "lc1:" + kClient + ":4711:x:30000:8";
  rig.message(owner, 101, 1, "other key");
  const ScriptCall call = rig.call();
  EXPECT_EQ(call.script, &scripts::release);
  EXPECT_EQ(call.owner(), owner);
  EXPECT_EQ(call.keys.at(0), "other key");
}

TEST_F(WakingTest, GrantForAValueThatIsDone_IsAnsweredWithRelease) {
  const Operation one = rig.queued_up(rig.waiting(1min));
  const std::string owner = owner_of(one);
  rig.cancel(one);
  rig.answer(released(false));
  rig.message(owner, 101, 1);
  EXPECT_EQ(rig.call().owner(), owner);
}

TEST_F(WakingTest, Hint_PollsAtOnce_UnknownOnesAreIgnored) {
  const Operation one = rig.queued_up(rig.waiting(1min));
  rig.message("lc1:" + kClient + ":4711:x:30000:8", 0, 0);
  EXPECT_TRUE(rig.calls().empty());
  rig.message(owner_of(one), 0, 0);
  EXPECT_EQ(rig.call().script, &scripts::acquire);
}

TEST_F(WakingTest, Hint_WhileAPollIsUnanswered_PollsOnceMoreBehindIt) {
  const Operation one = rig.queued_up(rig.waiting(1min));
  rig.advance(5001ms);
  rig.message(owner_of(one), 0, 0);
  EXPECT_EQ(rig.calls().size(), 1U);
  rig.answer(queued());
  EXPECT_EQ(rig.calls().size(), 1U);
}

TEST_F(WakingTest, GarbageOnTheChannel_IsIgnored) {
  const Operation one = rig.queued_up(rig.waiting(1min));
  for (const char* payload :
       {"", "x", "x y z", "lc1 1", " 1 1 k", "lc1:a:b 99999999999999999999 1 k"}) {
    rig.wake_link()->push(array({bulk("message"), bulk("c"), bulk(payload)}));
  }
  rig.wake_link()->push(array({}));
  rig.wake_link()->push(integer(1));
  rig.settle();
  EXPECT_FALSE(one.is_told());
  EXPECT_TRUE(rig.wake.is_confirmed());
}

TEST_F(WakingTest, LessThanTwoThirdsProven_IsRenewedRightBehind) {
  for (const auto& [answered_after, renews] : {std::pair<Millis, bool>{2s, false}, {4s, true}}) {
    ClientRig slow({.connection = {1s, 1min}});
    const Operation one = slow.acquire(slow.waiting(1min, "k", 9s));
    slow.answer(busy());
    slow.jump(answered_after);
    slow.answer(queued({.mark = 100}));
    slow.message(owner_of(one), 101, 8);
    ASSERT_TRUE(one.is_told());
    ASSERT_EQ(slow.calls().size(), renews ? 1U : 0U);
    if (!renews) continue;
    EXPECT_EQ(slow.answer(renewed({true})).script, &scripts::renew);
    EXPECT_EQ(one.grant()->remaining(slow.clock.now()), Ttl::make(9'000)->proven());
  }
}

TEST_F(WakingTest, FixedLease_IsRenewedOnceRightBehind) {
  AcquireRequest request = rig.waiting(1min, "k", 9s);
  request.renew = false;
  const Operation one = rig.queued_up(request, {.mark = 100});
  rig.message(owner_of(one), 101, 1);
  EXPECT_EQ(rig.answer(renewed({true})).script, &scripts::renew);
  rig.advance(8s);
  EXPECT_TRUE(rig.calls().empty());
}

TEST_F(WakingTest, ChannelLost_ForgetsTheMarkAndPollsWhenItIsBack) {
  const Operation one = rig.queued_up(rig.waiting(1min), {.mark = 100});
  const std::string owner = owner_of(one);
  rig.wake_link()->close();
  rig.advance(100ms);
  rig.settle();
  ASSERT_TRUE(rig.wake.is_confirmed());
  EXPECT_EQ(rig.call().script, &scripts::acquire);
  rig.message(owner, 101, 1);
  EXPECT_FALSE(one.is_told()) << "there is no answered poll to measure it by";
  rig.answer(queued({.mark = 100}));
  EXPECT_EQ(one.token(), 101U);
}

TEST_F(WakingTest, ChannelBack_WaitersAskInTheOrderOfTheirComing) {
  std::vector<std::string> owners;
  for (int i = 0; i < 5; ++i) {
    AcquireRequest request = rig.waiting(1min);
    request.fair = true;
    owners.push_back(owner_of(rig.queued_up(request)));
  }
  rig.wake_link()->close();
  rig.advance(100ms);
  rig.settle();
  std::vector<std::string> asked;
  for (const ScriptCall& call : rig.calls()) asked.push_back(call.owner());
  EXPECT_EQ(asked, owners);
}

TEST_F(WakingTest, AnotherServer_EndsTheSubscriptionToTheOldOne) {
  const Operation one = rig.queued_up(rig.waiting(1min), {.mark = 100});
  const auto old = rig.wake_link();
  rig.command_link()->close();
  rig.run_id = "run-2";
  rig.acquire(rig.request("other"));
  rig.settle();
  EXPECT_TRUE(old->is_dropped());
  EXPECT_FALSE(one.is_told());
}

TEST_F(WakingTest, SilentChannel_IsTakenForDead) {
  rig.queued_up(rig.waiting(10min));
  const auto old = rig.wake_link();
  rig.advance(5001ms);
  ASSERT_EQ(old->unanswered.size(), 1U) << "the heartbeat goes with each poll";
  EXPECT_EQ(old->unanswered[0], Request{"PING"});
  rig.advance(1001ms);
  EXPECT_TRUE(old->is_dropped());
}

}  // namespace
}  // namespace lockc

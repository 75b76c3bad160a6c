// Waiters of one client share a claim: who sits in it, and how it passes from one to the next.
#include <gtest/gtest.h>

#include "../support/client_rig.h"

namespace lockc {
namespace {

using namespace test;

struct HandoverTest : testing::Test {
  // Subscribes, so that waiters may queue and requeue.
  void confirm_channel() {
    const Operation other = rig.queued_up(rig.waiting(1h, "another key"));
    rig.cancel(other);
    rig.answer(released(false));
    ASSERT_TRUE(rig.wake.is_confirmed());
  }
  ClientRig rig;
};

TEST_F(HandoverTest, ManyWaiters_OneRepresentativeAtTheServer) {
  for (int i = 0; i < 50; ++i) rig.acquire(rig.waiting(1min));
  rig.settle();
  EXPECT_EQ(rig.calls().size(), 1U);
  EXPECT_EQ(rig.registry.entries(), 1U);
}

TEST_F(HandoverTest, KeyHeldHere_OneTryIsBusyWithoutARequest) {
  rig.held(rig.request());
  EXPECT_EQ(rig.acquire(rig.request()).status(), Status::kBusy);
  EXPECT_TRUE(rig.calls().empty());
}

TEST_F(HandoverTest, KeyHeldHere_WaitersSendNothing) {
  rig.held(rig.request());
  rig.acquire(rig.waiting(1min));
  EXPECT_TRUE(rig.calls().empty());
}

TEST_F(HandoverTest, Release_HandsOnInOrderByTheNextTokenWithoutARequest) {
  const Operation one = rig.held(rig.request(), 10, 8);
  const Operation two = rig.acquire(rig.waiting(1min));
  const Operation three = rig.acquire(rig.waiting(1min));
  EXPECT_EQ(rig.release(one.grant()).status(), Status::kOk);
  ASSERT_EQ(two.status(), Status::kOk);
  EXPECT_EQ(two.token(), 11U);
  EXPECT_FALSE(three.is_told());
  EXPECT_EQ(two.grant()->owner(), one.grant()->owner());
  rig.release(two.grant());
  EXPECT_EQ(three.token(), 12U);
  EXPECT_TRUE(rig.calls().empty());
  EXPECT_EQ(rig.release(one.grant()).status(), Status::kNotHeld);
}

TEST_F(HandoverTest, AnswerOfTheFirstTokenAlone_GrantsAllThatWereAskedFor) {
  const Operation one = rig.acquire(rig.request());
  std::vector<Operation> waiters;
  for (int i = 0; i < 8; ++i) waiters.push_back(rig.acquire(rig.waiting(1min)));
  rig.answer(granted_whole(10));
  Operation last = one;
  for (uint64_t token = 11; token < 10 + 8; ++token) {
    rig.release(last.grant());
    last = waiters[token - 11];
    EXPECT_EQ(last.token(), token);
  }
  EXPECT_TRUE(rig.calls().empty());
  rig.release(last.grant());
  EXPECT_FALSE(waiters.back().is_told()) << "the block is used up";
}

TEST_F(HandoverTest, TokensUsedUp_GoesBackByRequeue) {
  confirm_channel();
  const Operation one = rig.held(rig.request(), 10, 2);
  const Operation two = rig.acquire(rig.waiting(1min));
  const Operation three = rig.acquire(rig.waiting(1min));
  rig.release(one.grant());
  const Operation release = rig.release(two.grant());
  EXPECT_FALSE(three.is_told());
  const ScriptCall call = rig.call();
  EXPECT_EQ(call.script, &scripts::requeue);
  EXPECT_EQ(call.owner(), two.grant()->owner());
  EXPECT_NE(call.arguments.at(1), two.grant()->owner());
  rig.answer(requeued(true, granted(50, 2)));
  EXPECT_EQ(release.status(), Status::kOk);
  EXPECT_EQ(three.token(), 50U);
}

TEST_F(HandoverTest, HandoverMax_BoundsTheGrantsInARow) {
  ClientRig bounded({.registry = {.client = kClientName, .handover_max = 2}});
  const Operation one = bounded.held(bounded.request(), 10, 8);
  const Operation two = bounded.acquire(bounded.waiting(1min));
  const Operation three = bounded.acquire(bounded.waiting(1min));
  bounded.release(one.grant());
  ASSERT_TRUE(two.is_told());
  bounded.release(two.grant());
  EXPECT_FALSE(three.is_told());
}

TEST_F(HandoverTest, HandoverTime_BoundsTheGrantsInARow) {
  for (const auto& [held_for, handed_on] : {std::pair<Millis, bool>{20ms, true}, {21ms, false}}) {
    ClientRig fresh;
    const Operation one = fresh.held(fresh.request(), 10, 8);
    const Operation two = fresh.acquire(fresh.waiting(1min));
    fresh.jump(held_for);
    fresh.release(one.grant());
    EXPECT_EQ(two.is_told(), handed_on);
  }
}

TEST_F(HandoverTest, LessThanAThirdOfTheLeaseLeft_IsNotHandedOn) {
  ClientRig patient({.registry = {.client = kClientName, .handover_time = 1h}});
  const Operation one = patient.held(patient.request("k", 30ms), 10, 8);
  const Operation two = patient.acquire(patient.waiting(1min, "k", 30ms));
  patient.clock.advance(19ms);
  patient.release(one.grant());
  EXPECT_FALSE(two.is_told());
}

TEST_F(HandoverTest, OtherTerms_GoBackToTheServer) {
  confirm_channel();
  AcquireRequest fixed = rig.waiting(1min);
  fixed.renew = false;
  for (const auto& other : {rig.waiting(1min, "k", 20s), fixed}) {
    const Operation one = rig.held(rig.request(), 10, 8);
    const Operation two = rig.acquire(other);
    rig.release(one.grant());
    EXPECT_FALSE(two.is_told());
    EXPECT_EQ(rig.answer(requeued(true, granted(60))).script, &scripts::requeue);
    EXPECT_EQ(two.token(), 60U);
    rig.release(two.grant());
    rig.answer(released());
  }
}

TEST_F(HandoverTest, NoConfirmedChannel_ReleasesAndAsksAnew) {
  const Operation one = rig.held(rig.request(), 10, 1);
  const Operation two = rig.acquire(rig.waiting(1min));
  rig.release(one.grant());
  rig.settle();
  const auto calls = rig.calls();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].script, &scripts::release);
  EXPECT_EQ(calls[1].script, &scripts::acquire);
}

TEST_F(HandoverTest, Requeue_OfWhatIsNoLongerOurs_TellsLostAndTheWaiterGoesOn) {
  confirm_channel();
  const Operation one = rig.held(rig.request());
  const Operation two = rig.acquire(rig.waiting(1min));
  const Operation release = rig.release(one.grant());
  rig.answer(requeued(false, queued()));
  EXPECT_EQ(release.status(), Status::kLost);
  EXPECT_FALSE(two.is_told());
}

TEST_F(HandoverTest, Requeue_RefusedOrUnanswered_BothValuesGoOnByThemselves) {
  for (const bool refused : {true, false}) {
    ClientRig fresh;
    const Operation other = fresh.queued_up(fresh.waiting(1h, "another key"));
    fresh.cancel(other);
    fresh.answer(released(false));
    const Operation one = fresh.held(fresh.request());
    const Operation two = fresh.acquire(fresh.waiting(1min));
    const Operation release = fresh.release(one.grant());
    fresh.settle();
    if (refused) {
      fresh.answer(error("OOM x"));
    } else {
      fresh.command_link()->close();
    }
    fresh.settle();
    EXPECT_EQ(fresh.answer(released(refused)).owner(), one.grant()->owner());
    EXPECT_EQ(release.recorder->told.size(), 1U);
    fresh.advance(101ms);
    fresh.answer(granted(70));
    EXPECT_EQ(two.token(), 70U);
  }
}

TEST_F(HandoverTest, Requeue_NotSentYet_CancelOfTheWaiterLeavesTheReleaseToBeDone) {
  confirm_channel();
  const Operation one = rig.held(rig.request());
  const Operation two = rig.acquire(rig.waiting(1min));
  rig.command_link()->close();
  const Operation release = rig.release(one.grant());
  rig.cancel(two);
  EXPECT_EQ(two.status(), Status::kCancelled);
  rig.settle();
  EXPECT_EQ(rig.answer(requeued(true, granted(80))).script, &scripts::requeue);
  EXPECT_EQ(release.status(), Status::kOk);
  EXPECT_EQ(rig.call().script, &scripts::release) << "what the cancelled waiter was granted";
}

TEST_F(HandoverTest, CancelledRepresentative_EqualTerms_ThePlacePassesOn) {
  const Operation one = rig.queued_up(rig.waiting(1min), {.mark = 100});
  const Operation two = rig.acquire(rig.waiting(1min));
  const std::string owner = one.waiter->claim.lock()->owner().text();
  rig.cancel(one);
  EXPECT_TRUE(rig.calls().empty());
  rig.message(owner, 101, 8);
  EXPECT_EQ(two.token(), 101U);
}

TEST_F(HandoverTest, CancelledRepresentative_OtherTerms_ThePlaceIsGivenUp) {
  const Operation one = rig.queued_up(rig.waiting(1min));
  const Operation two = rig.acquire(rig.waiting(1min, "k", 20s));
  rig.cancel(one);
  const auto calls = rig.calls();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].script, &scripts::release);
  EXPECT_EQ(calls[1].script, &scripts::acquire);
  EXPECT_NE(calls[0].owner(), calls[1].owner());
  EXPECT_FALSE(two.is_told());
}

TEST_F(HandoverTest, CancelledInTheMiddle_LosesOnlyItsOwnPlace) {
  const Operation one = rig.held(rig.request(), 10, 8);
  const Operation two = rig.acquire(rig.waiting(1min));
  const Operation three = rig.acquire(rig.waiting(1min));
  rig.cancel(two);
  rig.release(one.grant());
  EXPECT_EQ(two.status(), Status::kCancelled);
  EXPECT_EQ(three.token(), 11U);
}

TEST_F(HandoverTest, FairWaiters_EachAskForThemselves) {
  AcquireRequest fair = rig.waiting(1min);
  fair.fair = true;
  const Operation one = rig.acquire(fair);
  const Operation two = rig.acquire(fair);
  rig.settle();
  ASSERT_EQ(rig.calls().size(), 2U);
  rig.answer(granted(10));
  ASSERT_TRUE(one.is_told());
  rig.release(one.grant());
  EXPECT_FALSE(two.is_told()) << "no hand-over past the server's queue";
}

TEST_F(HandoverTest, LostLease_SendsTheWaitersToTheServer) {
  const Operation one = rig.held(rig.request(), 10, 8);
  const Operation two = rig.acquire(rig.waiting(10min));
  rig.jump(1min);
  EXPECT_EQ(one.grant()->loss(), LossReason::kExpired);
  EXPECT_FALSE(two.is_told());
  const ScriptCall call = rig.call();
  EXPECT_EQ(call.script, &scripts::acquire);
  EXPECT_NE(call.owner(), one.grant()->owner());
}

TEST_F(HandoverTest, Loss_IsToldToThePresentHolderOnly) {
  AcquireRequest first = rig.request();
  AcquireRequest second = rig.waiting(1min);
  const auto first_events = std::make_shared<Recorder>();
  const auto second_events = std::make_shared<Recorder>();
  first.events = first_events;
  second.events = second_events;
  const Operation one = rig.held(first, 10, 8);
  const Operation two = rig.acquire(second);
  rig.release(one.grant());
  ASSERT_TRUE(two.is_told());
  rig.jump(1min);
  EXPECT_TRUE(first_events->told.empty());
  EXPECT_EQ(second_events->told.size(), 1U);
}

TEST_F(HandoverTest, Reentry_ByTheSameOwner_NeedsNoRequestAndCounts) {
  AcquireRequest request = rig.request();
  request.owner = 7;
  const Operation one = rig.held(request);
  const Operation again = rig.acquire(request);
  ASSERT_EQ(again.status(), Status::kOk);
  EXPECT_EQ(again.token(), one.token());
  EXPECT_TRUE(rig.calls().empty());
  EXPECT_EQ(rig.release(one.grant()).status(), Status::kOk);
  EXPECT_TRUE(rig.calls().empty()) << "one handle is left";
  const Operation last = rig.release(again.grant());
  EXPECT_EQ(rig.answer(released()).script, &scripts::release);
  EXPECT_EQ(last.status(), Status::kOk);
  EXPECT_FALSE(rig.acquire(request).is_told()) << "a new request then";
}

TEST_F(HandoverTest, Reentry_ByAnotherOwner_IsBusy) {
  AcquireRequest request = rig.request();
  request.owner = 7;
  rig.held(request);
  request.owner = 8;
  EXPECT_EQ(rig.acquire(request).status(), Status::kBusy);
  request.owner = 0;
  EXPECT_EQ(rig.acquire(request).status(), Status::kBusy);
}

TEST_F(HandoverTest, Reentry_IntoALostLease_IsLost) {
  AcquireRequest request = rig.request();
  request.owner = 7;
  const Operation one = rig.held(request);
  rig.jump(1min);
  EXPECT_EQ(rig.acquire(request).status(), Status::kLost);
  rig.release(one.grant());
  rig.answer(released(false));
  EXPECT_FALSE(rig.acquire(request).is_told());
}

TEST_F(HandoverTest, Reentry_WhileALostLeaseOfTheSameOwnerIsGivenBack_FindsTheNewOne) {
  AcquireRequest request = rig.waiting(5min);
  request.owner = 7;
  const Operation one = rig.acquire(request);
  const Operation two = rig.acquire(request);
  rig.answer(granted(10));
  rig.jump(1min);
  rig.calls();
  rig.answer(granted(20));
  ASSERT_EQ(two.token(), 20U);
  EXPECT_EQ(rig.release(one.grant()).status(), Status::kLost);
  EXPECT_EQ(rig.acquire(request).token(), 20U);
}

}  // namespace
}  // namespace lockc

// What happens to a lease while it is held: renewal, extension, loss.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <thread>

#include "../support/client_rig.h"

namespace lockc {
namespace {

using namespace test;

struct LeaseTest : testing::Test {
  Duration remaining(const Operation& held) const {
    return held.grant()->remaining(rig.clock.now());
  }
  const Duration proven = Ttl::make(30'000)->proven();
  ClientRig rig;
};

TEST_F(LeaseTest, OwnerText_ManyThreadsAskAtOnce_IsOneAndTheOwner) {
  const auto grant = rig.held(rig.request()).grant();
  std::array<const char*, 8> texts{};
  std::vector<std::thread> threads;
  for (const char*& text : texts) threads.emplace_back([&] { text = grant->owner_text(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set(texts.begin(), texts.end()).size(), 1U);
  EXPECT_EQ(texts.front(), grant->owner());
}

TEST_F(LeaseTest, Renewal_ComesWithinAThirdOfTheTtlAndProvesFromItsSending) {
  const Operation one = rig.held(rig.request());
  rig.advance(8749ms);
  EXPECT_TRUE(rig.calls().empty()) << "not before seven eighths of the period";
  rig.advance(1252ms);
  const ScriptCall call = rig.call();
  EXPECT_EQ(call.script, &scripts::renew);
  EXPECT_EQ(call.keys, std::vector<std::string>{"k"});
  EXPECT_EQ(call.arguments, (std::vector<std::string>{"30000", one.grant()->owner()}));
  const Duration before = remaining(one);
  rig.jump(100ms);
  rig.answer(renewed({true}));
  EXPECT_GT(remaining(one), before);
  EXPECT_LE(remaining(one), proven - 100ms);
}

TEST_F(LeaseTest, Renewal_GoesOnAsLongAsItIsHeld) {
  const Operation one = rig.held(rig.request());
  for (int i = 0; i < 20; ++i) {
    rig.advance(10s);
    ASSERT_EQ(rig.answer(renewed({true})).script, &scripts::renew);
  }
  EXPECT_EQ(one.grant()->loss(), LossReason::kNone);
}

TEST_F(LeaseTest, Renewal_FixedPeriod_IsAtMostHalfTheTtl) {
  ClientRig fixed({.watchdog = {.every = 10s}});
  fixed.held(fixed.request("a", 30s));
  fixed.held(fixed.request("b", 4s));
  fixed.advance(2s);
  EXPECT_EQ(fixed.answer(renewed({true})).keys, std::vector<std::string>{"b"});
  fixed.jump(0ms);
  EXPECT_TRUE(fixed.calls().empty());
}

TEST_F(LeaseTest, Renewal_LocksTakenAboutTheSameTime_ShareOneScript) {
  for (int i = 0; i < 20; ++i) {
    rig.held(rig.request("k" + std::to_string(i)));
    rig.advance(20ms);
  }
  std::set<size_t> sizes;
  rig.advance(10s);
  size_t scripts_sent = 0;
  for (const ScriptCall& call : rig.calls()) {
    ++scripts_sent;
    sizes.insert(call.keys.size());
  }
  EXPECT_LE(scripts_sent, 2U);
}

TEST_F(LeaseTest, Renewal_ComesInBatchesOfTheGivenSize) {
  for (int i = 0; i < 300; ++i) rig.held(rig.request("k" + std::to_string(i)));
  rig.advance(10s);
  std::vector<size_t> sizes;
  for (const ScriptCall& call : rig.calls()) sizes.push_back(call.keys.size());
  EXPECT_EQ(sizes, (std::vector<size_t>{128, 128, 44}));
}

TEST_F(LeaseTest, Renewal_OneOfABatchLost_ConcernsThatOneAlone) {
  const Operation a = rig.held(rig.request("a"));
  const Operation b = rig.held(rig.request("b"));
  rig.advance(10s);
  const ScriptCall call = rig.call();
  ASSERT_EQ(call.keys.size(), 2U);
  rig.answer(renewed({call.keys[0] == "a", call.keys[1] == "a"}));
  EXPECT_EQ(a.grant()->loss(), LossReason::kNone);
  EXPECT_EQ(b.grant()->loss(), LossReason::kTaken);
}

TEST_F(LeaseTest, Renewal_ThatFails_IsTriedAgainInsideTheLease) {
  const Operation one = rig.held(rig.request());
  rig.advance(10s);
  for (int i = 0; i < 20; ++i) {
    rig.answer(error("LOADING x"));
    rig.advance(100ms);
    ASSERT_EQ(rig.call().script, &scripts::renew);
  }
  rig.answer(renewed({true}));
  EXPECT_EQ(one.grant()->loss(), LossReason::kNone);
  EXPECT_GT(remaining(one), 29s);
}

TEST_F(LeaseTest, Renewal_ThatNeverSucceeds_LosesTheLeaseAtItsProvenEnd) {
  AcquireRequest request = rig.request("k", 1s);
  const auto events = std::make_shared<Recorder>();
  request.events = events;
  request.events_tag = 42;
  const Operation one = rig.held(request);
  rig.advance(proven);
  EXPECT_EQ(one.grant()->loss(), LossReason::kExpired);
  EXPECT_EQ(remaining(one), Duration::zero());
  ASSERT_EQ(events->told.size(), 1U);
  EXPECT_EQ(events->told[0].kind, Completion::Kind::kLost);
  EXPECT_EQ(events->told[0].outcome.status, Status::kLost);
  EXPECT_EQ(events->told[0].tag, 42U);
}

TEST_F(LeaseTest, SlowAnswer_IsRenewedByItsProofAndNotByItsArrival) {
  ClientRig slow({.connection = {1s, 1min}});
  const Operation one = slow.acquire(slow.request());
  slow.settle();
  slow.jump(25s);
  slow.answer(granted(5));
  ASSERT_EQ(one.status(), Status::kOk);
  slow.advance(1s);
  EXPECT_EQ(slow.call().script, &scripts::renew);
}

TEST_F(LeaseTest, StoppedProcess_FindsItsLeaseLost) {
  const Operation one = rig.held(rig.request());
  rig.jump(1min);
  EXPECT_EQ(one.grant()->loss(), LossReason::kExpired);
}

TEST_F(LeaseTest, Taken_IsToldOnceAndBeforeItsRelease) {
  AcquireRequest request = rig.request();
  const auto events = std::make_shared<Recorder>();
  request.events = events;
  const Operation one = rig.held(request);
  rig.advance(10s);
  rig.answer(renewed({false}));
  EXPECT_EQ(events->told.size(), 1U);
  rig.jump(1min);
  EXPECT_EQ(rig.release(one.grant()).status(), Status::kLost);
  EXPECT_EQ(rig.release(one.grant()).status(), Status::kNotHeld);
  EXPECT_EQ(events->told.size(), 1U);
  EXPECT_EQ(one.grant()->loss(), LossReason::kTaken);
}

TEST_F(LeaseTest, MaxHold_StopsRenewalAndIsTheReasonOfTheLoss) {
  AcquireRequest request = rig.request();
  request.max_hold = 15s;
  const Operation one = rig.held(request);
  rig.advance(10s);
  rig.answer(renewed({true}));
  rig.advance(10s);
  EXPECT_TRUE(rig.calls().empty()) << "it would be renewed by now";
  rig.advance(19s);
  EXPECT_EQ(one.grant()->loss(), LossReason::kNone);
  rig.advance(1s);
  EXPECT_EQ(one.grant()->loss(), LossReason::kLimit);
}

TEST_F(LeaseTest, MaxHold_OfAnOwnerThatEntersAgain_IsThatOfTheFirstTime) {
  AcquireRequest request = rig.request();
  request.owner = 7;
  request.max_hold = 15s;
  const Operation one = rig.held(request);
  request.max_hold = 0s;
  const Operation again = rig.acquire(request);
  rig.advance(10s);
  rig.answer(renewed({true}));
  rig.advance(10s);
  EXPECT_TRUE(rig.calls().empty()) << "it would be renewed by now";
  rig.advance(19s);
  rig.advance(1s);
  EXPECT_EQ(again.grant()->loss(), LossReason::kLimit);
}

TEST_F(LeaseTest, FixedLease_IsNotRenewedAndExpires) {
  AcquireRequest request = rig.request();
  request.renew = false;
  const Operation one = rig.held(request);
  rig.advance(proven - 1ms);
  EXPECT_TRUE(rig.calls().empty());
  EXPECT_EQ(one.grant()->loss(), LossReason::kNone);
  rig.advance(2ms);
  EXPECT_EQ(one.grant()->loss(), LossReason::kExpired);
}

TEST_F(LeaseTest, Reconnect_RenewsEveryLeaseAtOnce) {
  rig.held(rig.request("a"));
  rig.held(rig.request("b"));
  rig.command_link()->close();
  rig.acquire(rig.request("c"));
  rig.settle();
  size_t keys = 0;
  for (const ScriptCall& call : rig.calls())
    keys += call.script == &scripts::renew ? call.keys.size() : 0;
  EXPECT_EQ(keys, 2U);
}

TEST_F(LeaseTest, Extend_ProvesFromItsSending) {
  const Operation one = rig.held(rig.request());
  const Operation extended = rig.extend(one.grant(), 10min);
  EXPECT_EQ(rig.call().arguments.at(0), "600000");
  rig.answer(renewed({true}));
  EXPECT_EQ(extended.status(), Status::kOk);
  EXPECT_EQ(remaining(one), Ttl::make(600'000)->proven());
}

TEST_F(LeaseTest, Extend_ByLess_NeverShortens) {
  const Operation one = rig.held(rig.request());
  rig.extend(one.grant(), 1s);
  rig.answer(renewed({true}));
  EXPECT_EQ(remaining(one), proven);
}

TEST_F(LeaseTest, Extend_OfWhatIsNoLongerOurs_IsLost) {
  const Operation one = rig.held(rig.request());
  const Operation extended = rig.extend(one.grant(), 1min);
  rig.answer(renewed({false}));
  EXPECT_EQ(extended.status(), Status::kLost);
  EXPECT_EQ(one.grant()->loss(), LossReason::kTaken);
  EXPECT_EQ(rig.extend(one.grant(), 1min).status(), Status::kLost);
}

TEST_F(LeaseTest, Extend_AfterRelease_IsNotHeld) {
  const Operation one = rig.held(rig.request());
  rig.release(one.grant());
  EXPECT_EQ(rig.extend(one.grant(), 1min).status(), Status::kNotHeld);
}

TEST_F(LeaseTest, Extend_NoAnswer_IsUncertainAndChangesNothing) {
  const Operation one = rig.held(rig.request());
  const Operation extended = rig.extend(one.grant(), 10min);
  rig.settle();
  rig.command_link()->close();
  EXPECT_EQ(extended.status(), Status::kUncertain);
  EXPECT_EQ(remaining(one), proven);
}

TEST_F(LeaseTest, Renewal_LogInThatIsAnsweredNoscript_WaitsLikeAnyFailure) {
  const Operation one = rig.held(rig.request());
  rig.command_link()->close();
  rig.advance(10s);
  const auto link = rig.net.links.back();
  link->open();
  for (const std::string& reply : {status("OK"), integer(1), error("NOSCRIPT x")}) {
    link->answer(reply);
  }
  EXPECT_TRUE(link->is_dropped());
  rig.advance(200ms);
  EXPECT_EQ(rig.answer(renewed({true})).script, &scripts::renew);
  EXPECT_GT(remaining(one), 29s);
}

TEST_F(LeaseTest, Extend_ForgottenScript_IsAskedAgain) {
  const Operation one = rig.held(rig.request());
  rig.extend(one.grant(), 1min);
  rig.answer(renewed({true}));
  const Operation extended = rig.extend(one.grant(), 2min);
  rig.answer(error("NOSCRIPT No matching script."));
  EXPECT_FALSE(extended.is_told());
  rig.answer(renewed({true}));
  EXPECT_EQ(extended.status(), Status::kOk);
}

}  // namespace
}  // namespace lockc

// How a claim asks for its lock until it has it, or gives up.
#include <gmock/gmock.h>

#include "../support/client_rig.h"

namespace lockc {
namespace {

using namespace test;
using testing::HasSubstr;

struct AskingTest : testing::Test {
  ClientRig rig;
};

TEST_F(AskingTest, OneTry_Granted_HasTheFirstTokenAndTheProvenTime) {
  const Operation one = rig.acquire(rig.request());
  rig.settle();
  rig.jump(100ms);
  rig.answer(granted(1234, 8));
  ASSERT_EQ(one.status(), Status::kOk);
  EXPECT_EQ(one.token(), 1234U);
  EXPECT_EQ(one.grant()->remaining(rig.clock.now()), Ttl::make(30'000)->proven() - 100ms)
      << "counted from before it was sent";
}

TEST_F(AskingTest, OneTry_AnsweredByNoToken_IsAnError) {
  for (const uint64_t none : {0UL, 1UL << 53U}) {
    const Operation one = rig.acquire(rig.request());
    rig.answer(granted_whole(none));
    EXPECT_EQ(one.status(), Status::kServer);
    rig.answer(released(false));
  }
}

TEST_F(AskingTest, OneTry_Request_IsTheProtocols) {
  rig.acquire(rig.request("k", 5s));
  const ScriptCall call = rig.call();
  EXPECT_EQ(call.script, &scripts::acquire);
  EXPECT_EQ(call.keys, (std::vector<std::string>{"k", "lockc:{k}:fence:k", "lockc:{k}:queue:k",
                                                 "lockc:{k}:seen:k"}));
  EXPECT_EQ(call.arguments,
            (std::vector<std::string>{"lc1:" + kClient + ":1:x:5000:8", "0", "0", "60000"}));
}

TEST_F(AskingTest, OneTry_Busy_SendsNothingMore) {
  const Operation one = rig.acquire(rig.request());
  rig.answer(busy());
  EXPECT_EQ(one.status(), Status::kBusy);
  EXPECT_TRUE(rig.calls().empty());
  EXPECT_EQ(rig.registry.entries(), 0U);
}

TEST_F(AskingTest, EachRequest_HasAnOwnerOfItsOwn) {
  rig.acquire(rig.request());
  const std::string first = rig.answer(busy()).owner();
  rig.acquire(rig.request());
  EXPECT_NE(rig.call().owner(), first);
}

TEST_F(AskingTest, Terms_GoIntoTheOwnerValue) {
  AcquireRequest fair = rig.request("a");
  fair.fair = true;
  AcquireRequest fixed = rig.request("b");
  fixed.renew = false;
  AcquireRequest unfenced = rig.request("c");
  unfenced.fenced = false;
  for (const auto& request : {fair, fixed, unfenced}) rig.acquire(request);
  rig.settle();
  const auto calls = rig.calls();
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_TRUE(calls[0].owner().ends_with(":30000:1"));
  EXPECT_TRUE(calls[1].owner().ends_with(":30000:1"));
  EXPECT_TRUE(calls[2].owner().ends_with(":30000:0"));
}

TEST_F(AskingTest, Unfenced_FreeKey_TakesOnePlainSetAndShowsNoToken) {
  AcquireRequest request = rig.request();
  request.fenced = false;
  const Operation one = rig.acquire(request);
  const ScriptCall call = rig.call();
  EXPECT_EQ(call.script, nullptr);
  EXPECT_EQ(call.arguments, (std::vector<std::string>{call.owner(), "NX", "PX", "30000"}));
  rig.answer(status("OK"));
  EXPECT_EQ(one.status(), Status::kOk);
  EXPECT_EQ(one.token(), 0U);
}

TEST_F(AskingTest, Unfenced_KeyInUse_GoesOnByTheScript) {
  AcquireRequest request = rig.request();
  request.fenced = false;
  const Operation one = rig.acquire(request);
  rig.answer("$-1\r\n");
  EXPECT_EQ(rig.call().script, &scripts::acquire);
  rig.answer(busy());
  EXPECT_EQ(one.status(), Status::kBusy);
}

TEST_F(AskingTest, Noscript_IsAskedAgainAtOnceAndBounded) {
  const Operation one = rig.acquire(rig.request());
  for (int i = 0; i < 3; ++i) {
    rig.answer(error("NOSCRIPT No matching script."));
    ASSERT_FALSE(one.is_told());
  }
  rig.answer(error("NOSCRIPT No matching script."));
  EXPECT_EQ(one.status(), Status::kNotReady);
}

TEST_F(AskingTest, OneTry_RefusedByTheServer_HasItsStatus) {
  const Operation one = rig.acquire(rig.request());
  rig.answer(error("OOM command not allowed"));
  EXPECT_EQ(one.status(), Status::kServerOom);
  EXPECT_THAT(one.recorder->told[0].outcome.message, HasSubstr("OOM command"));
  EXPECT_TRUE(rig.calls().empty());
}

TEST_F(AskingTest, OneTry_ReplyOfAnotherShape_IsAServerError) {
  const Operation one = rig.acquire(rig.request());
  rig.answer(array({integer(5)}));
  EXPECT_EQ(one.status(), Status::kServer);
}

TEST_F(AskingTest, OneTry_NoAnswer_IsUncertainAndUndone) {
  const Operation one = rig.acquire(rig.request());
  const std::string owner = rig.call().owner();
  rig.command_link()->close();
  EXPECT_EQ(one.status(), Status::kUncertain);
  const ScriptCall undo = rig.call();
  EXPECT_EQ(undo.script, &scripts::release);
  EXPECT_EQ(undo.owner(), owner);
  rig.answer(released());
  EXPECT_TRUE(rig.calls().empty());
}

TEST_F(AskingTest, Denied_InsideTheScript_UndoesWhatItMayHaveDoneAndGivesUpInTheEnd) {
  const Operation one = rig.acquire(rig.request());
  const std::string denied = error("ERR The user executing the script can't run this command");
  const std::string owner = rig.answer(denied).owner();
  EXPECT_EQ(one.status(), Status::kDenied);
  int releases = 0;
  for (auto calls = rig.calls(); !calls.empty(); calls = rig.calls(), ++releases) {
    EXPECT_EQ(calls.front().owner(), owner);
    rig.answer(denied);
    rig.jump(100ms);
  }
  EXPECT_EQ(releases, 7) << "the last of them plain deletes; then the lease is left to expire";
}

TEST_F(AskingTest, Waiter_TroubleThatMayPass_IsTriedAgainAtMost20TimesASecond) {
  const Operation one = rig.acquire(rig.waiting(10s));
  for (const char* trouble : {"OOM x", "READONLY x", "LOADING x", "BUSY x", "TRYAGAIN x"}) {
    rig.answer(error(trouble));
    rig.advance(49ms);
    EXPECT_TRUE(rig.calls().empty());
    rig.advance(52ms);
    EXPECT_EQ(rig.calls().size(), 1U) << trouble;
  }
  rig.answer(granted(5));
  EXPECT_EQ(one.status(), Status::kOk);
}

TEST_F(AskingTest, Waiter_TroubleThatStays_IsToldAtOnce) {
  for (const auto& [text, status] :
       {std::pair{"NOPERM x", Status::kDenied}, std::pair{"WRONGTYPE x", Status::kWrongType},
        std::pair{"LOCKCFENCE x", Status::kServer}}) {
    const Operation one = rig.acquire(rig.waiting(10s));
    rig.answer(error(text));
    EXPECT_EQ(one.status(), status) << text;
  }
}

TEST_F(AskingTest, Deadline_AfterAnAnswer_IsTimeout) {
  const Operation one = rig.queued_up(rig.waiting(1s));
  rig.advance(1001ms);
  EXPECT_EQ(one.status(), Status::kTimeout);
  EXPECT_EQ(one.recorder->told[0].outcome.message, "");
  EXPECT_EQ(rig.call().script, &scripts::release) << "its place is given up";
}

TEST_F(AskingTest, Deadline_WithoutAnyAnswer_IsUncertain) {
  const Operation one = rig.acquire(rig.waiting(500ms));
  rig.settle();
  rig.advance(501ms);
  EXPECT_EQ(one.status(), Status::kUncertain);
}

TEST_F(AskingTest, Deadline_WithoutConnection_IsUnreachableAndNothingIsSentLater) {
  const Operation one = rig.acquire(rig.waiting(500ms));
  rig.advance(501ms);
  EXPECT_EQ(one.status(), Status::kUnreachable);
  rig.settle();
  EXPECT_TRUE(rig.calls().empty());
}

TEST_F(AskingTest, Deadline_InTrouble_TellsIt) {
  const Operation one = rig.acquire(rig.waiting(40ms));
  rig.answer(error("READONLY x"));
  rig.advance(41ms);
  EXPECT_EQ(one.status(), Status::kReadOnly);
}

TEST_F(AskingTest, WaitForEver_EndsAfter30SecondsOfSilence) {
  const Operation one = rig.acquire(rig.waiting(kForever));
  const TimePoint began = rig.clock.now();
  while (!one.is_told() && rig.clock.now() - began < 2min) {
    if (!rig.net.links.back()->is_dropped()) rig.net.links.back()->close("Connection refused");
    rig.advance(50ms);
  }
  ASSERT_TRUE(one.is_told());
  EXPECT_EQ(one.status(), Status::kUnreachable);
  EXPECT_GE(rig.clock.now() - began, 30s);
  EXPECT_LE(rig.clock.now() - began, 31s);
}

TEST_F(AskingTest, Spin_AsksWithBackOffAndNeverSubscribes) {
  AcquireRequest request = rig.waiting(10s);
  request.spin = true;
  const Operation one = rig.acquire(request);
  rig.settle();
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(rig.call().arguments.at(1), "0") << "does not queue";
    rig.answer(busy());
    EXPECT_TRUE(rig.calls().empty());
    rig.advance(250ms);
  }
  EXPECT_FALSE(one.is_told());
  EXPECT_EQ(rig.net.links.size(), 1U);
}

TEST_F(AskingTest, Spin_MaxTries_EndsBusy) {
  AcquireRequest request = rig.waiting(10s);
  request.spin = true;
  request.max_tries = 2;
  const Operation one = rig.acquire(request);
  rig.answer(busy());
  rig.advance(10ms);
  EXPECT_FALSE(one.is_told());
  rig.answer(busy());
  EXPECT_EQ(one.status(), Status::kBusy);
}

TEST_F(AskingTest, Waiter_QueuesOnlyOverAConfirmedSubscription) {
  rig.acquire(rig.waiting(10s));
  EXPECT_EQ(rig.call().arguments.at(1), "0");
  rig.answer(busy());
  EXPECT_TRUE(rig.wake.is_confirmed());
  EXPECT_EQ(rig.call().arguments.at(1), "1");
}

TEST_F(AskingTest, Waiter_MayNotSubscribe_PollsWithoutQueueingAndSubscribesNoMore) {
  const Operation one = rig.acquire(rig.waiting(10s));
  rig.settle();
  rig.calls()[0].link->answer(busy());
  const auto wake = rig.net.links.back();
  wake->open();
  for (const char* reply : {"+OK\r\n", ":2\r\n", "$0\r\n\r\n", "-NOPERM no channel\r\n"}) {
    wake->answer(reply);
  }
  for (int i = 0; i < 10; ++i) {
    rig.advance(600ms);
    EXPECT_EQ(rig.call().arguments.at(1), "0");
    rig.answer(busy());
  }
  EXPECT_EQ(rig.net.links.size(), 2U) << "no further connection for a subscription";
  rig.advance(600ms);
  rig.answer(granted(9));
  EXPECT_EQ(one.status(), Status::kOk);
}

TEST_F(AskingTest, Queued_PollsAtThePollBoundWithItsTicket) {
  for (const auto& [ttl, bound] : {std::pair<Millis, Millis>{30s, 5s}, {3s, 1s}}) {
    ClientRig fresh;
    fresh.queued_up(fresh.waiting(1min, "k", ttl), {.ticket = "77"});
    fresh.advance(bound - 1ms);
    EXPECT_TRUE(fresh.calls().empty());
    fresh.advance(2ms);
    EXPECT_EQ(fresh.call().arguments.at(2), "77");
  }
}

TEST_F(AskingTest, Queued_TicketOlderThanTheTtl_IsNotShown) {
  rig.queued_up(rig.waiting(10min, "k", 3s), {.ticket = "77"});
  rig.jump(3s);
  EXPECT_EQ(rig.call().arguments.at(2), "0");
}

TEST_F(AskingTest, Queued_HolderThatExpiresSooner_IsAwaitedPlusAStepForEachPosition) {
  rig.queued_up(rig.waiting(1min), {.pttl = 1000, .position = 3});
  rig.advance(1060ms);
  EXPECT_TRUE(rig.calls().empty());
  rig.advance(21ms);
  EXPECT_EQ(rig.calls().size(), 1U);
}

TEST_F(AskingTest, Queued_HolderThatTellsNobody_IsPolledWithBackOff) {
  rig.queued_up(rig.waiting(1min), {.lockc = false});
  rig.advance(5ms);
  EXPECT_EQ(rig.calls().size(), 1U);
  rig.answer(queued({.pttl = -1}));
  rig.advance(9ms);
  EXPECT_EQ(rig.calls().size(), 1U);
}

TEST_F(AskingTest, Queued_ServerThatMayNotPublish_IsPolledWithBackOff) {
  rig.may_publish = false;
  rig.queued_up(rig.waiting(1min));
  rig.advance(500ms);
  EXPECT_EQ(rig.calls().size(), 1U);
}

TEST_F(AskingTest, Grant_ThatComesTooLateToBeOfUse_IsAskedForAnew) {
  ClientRig slow({.connection = {1s, 1min}});
  const Operation one = slow.acquire(slow.waiting(1min, "k", 100ms));
  slow.settle();
  slow.jump(97ms);
  slow.answer(granted(5));
  EXPECT_FALSE(one.is_told());
  slow.answer(granted(6));
  EXPECT_EQ(one.token(), 6U);
}

TEST_F(AskingTest, Grant_WithATokenThatScriptsCannotCount_IsRefusedAndUndone) {
  const Operation one = rig.acquire(rig.request());
  rig.answer(granted(FencingToken::kEnd));
  EXPECT_EQ(one.status(), Status::kServer);
  EXPECT_EQ(rig.call().script, &scripts::release);
}

TEST_F(AskingTest, OneTry_GrantThatComesTooLateToBeOfUse_IsUncertainAndUndone) {
  const Operation one = rig.acquire(rig.request("k", 100ms));
  rig.settle();
  rig.clock.advance(100ms);
  const std::string owner = rig.answer(granted(7, 8)).owner();
  EXPECT_EQ(one.status(), Status::kUncertain);
  const ScriptCall undo = rig.call();
  EXPECT_EQ(undo.script, &scripts::release);
  EXPECT_EQ(undo.owner(), owner);
}

TEST_F(AskingTest, Cancel_BeforeAnythingWasSent_SendsNothing) {
  const Operation one = rig.acquire(rig.waiting(10s));
  rig.cancel(one);
  EXPECT_EQ(one.status(), Status::kCancelled);
  rig.settle();
  EXPECT_TRUE(rig.calls().empty());
}

TEST_F(AskingTest, Cancel_WhileAPollIsUnanswered_ReleasesBehindItOnItsConnection) {
  const Operation one = rig.queued_up(rig.waiting(1min));
  rig.advance(5001ms);
  rig.cancel(one);
  const auto calls = rig.calls();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].script, &scripts::acquire);
  EXPECT_EQ(calls[1].script, &scripts::release);
  EXPECT_EQ(calls[0].link, calls[1].link);
  rig.answer(granted(200));
  rig.answer(released());
  EXPECT_EQ(one.recorder->told.size(), 1U) << "a grant of a dead value does not count";
}

TEST_F(AskingTest, MaxWaiters_OneMore_IsToldLimit) {
  ClientRig bounded({.registry = {.client = kClientName, .max_waiters = 2}});
  const Operation first = bounded.acquire(bounded.waiting(1min, "a"));
  bounded.acquire(bounded.waiting(1min, "b"));
  EXPECT_EQ(bounded.acquire(bounded.waiting(1min, "c")).status(), Status::kLimit);
  EXPECT_FALSE(bounded.acquire(bounded.request("d")).is_told()) << "one try does not wait";
  bounded.cancel(first);
  EXPECT_FALSE(bounded.acquire(bounded.waiting(1min, "c")).is_told());
}

}  // namespace
}  // namespace lockc

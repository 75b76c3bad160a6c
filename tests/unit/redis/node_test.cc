#include "redis/node.h"

#include <gmock/gmock.h>

#include <array>
#include <optional>

#include "../support/fake_transport.h"
#include "../support/manual_clock.h"
#include "../support/resp_text.h"

namespace lockc {
namespace {

using namespace std::chrono_literals;
using test::Request;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Script kScript{"one", "return 1", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"};

struct NodeTest : testing::Test {
  NodeTest() { net.set_loop(loop); }

  template <class Task>
  void turn(Task task) {
    loop.begin_turn();
    task();
    loop.end_turn();
  }
  void wait(Duration by) {
    clock.advance(by);
    turn([] {});
  }
  Node::OnReply note(const std::string& name) {
    return [this, name](const Result<resp::View>& reply) {
      const auto text = reply ? reply->text() : status_name(reply.error().status);
      ends.push_back(name + "=" + std::string(text));
    };
  }
  void run(const std::string& name, const std::shared_ptr<Route>& behind = nullptr,
           const std::shared_ptr<Route>& grants = nullptr) {
    turn([&] {
      const std::array<std::string_view, 1> arguments = {name};
      node.run(kScript, {}, arguments, {behind, grants}, note(name));
    });
  }
  std::shared_ptr<test::FakeLink> link() const { return net.links.back(); }
  // Lets the newest connection through its log-in.
  void log_in(const std::string& run_id = "run-1") {
    link()->open();
    answer_log_in(run_id);
  }
  void answer_log_in(const std::string& run_id = "run-1") {
    link()->answer("+OK\r\n");
    link()->answer(test::integer(static_cast<int64_t>(net.links.size())));
    link()->answer(test::bulk("redis_version:7.0.15\r\nrun_id:" + run_id + "\r\n"));
  }

  test::ManualClock clock;
  test::FakeTransport net;
  Loop loop{clock, net, Random(1)};
  Log log{0};
  const Node::Config config{Endpoint(), {1s, 1s}, {"CLIENT", "name"}};
  std::vector<bool> reconnected;
  Node node{loop, config, log, [this](bool changed) { reconnected.push_back(changed); }};
  std::vector<std::string> ends;
};

const auto kText = Request{"EVAL", std::string(kScript.text), "0", "A"};
const auto kSha = Request{"EVALSHA", std::string(kScript.sha1), "0", "A"};

TEST_F(NodeTest, Run_SendsTheTextUntilTheScriptHasRunOnce) {
  run("A");
  log_in();
  EXPECT_THAT(link()->unanswered, ElementsAre(kText));
  link()->answer("+OK\r\n");
  run("A");
  EXPECT_THAT(link()->unanswered, ElementsAre(kSha));
}

TEST_F(NodeTest, Run_ForgottenScript_IsSentAgainByItsText) {
  run("A");
  log_in();
  link()->answer("+OK\r\n");
  run("A");
  link()->answer("-NOSCRIPT No matching script.\r\n");
  EXPECT_THAT(link()->unanswered, ElementsAre(kText));
  link()->answer("-NOSCRIPT No matching script.\r\n");
  EXPECT_THAT(link()->unanswered, IsEmpty()) << "but once";
  EXPECT_THAT(ends, ElementsAre("A=OK", "A=E_NOT_READY"));
}

TEST_F(NodeTest, Run_ForgottenScriptThatStandsInAnOrder_IsTold) {
  const auto route = std::make_shared<Route>();
  run("A");
  log_in();
  link()->answer("+OK\r\n");
  run("A", route, route);
  run("B", route);
  link()->answer("-NOSCRIPT No matching script.\r\n");
  EXPECT_EQ(link()->unanswered.size(), 1U) << "nothing of it behind B";
  EXPECT_THAT(ends, ElementsAre("A=OK", "A=E_NOT_READY"));
  run("A", route, route);
  EXPECT_EQ(link()->unanswered.back(), kText);
}

TEST_F(NodeTest, Run_WhereDigestsAreRefused_SendsTheTextFromThenOn) {
  for (const char* refusal :
       {"-ERR unknown command 'EVALSHA', with args beginning with: \r\n",
        "-ERR unknown command `EVALSHA`, with args beginning with: \r\n",
        "-NOPERM this user has no permissions to run the 'evalsha' command\r\n",
        "-NOPERM User u has no permissions to run the 'evalsha' command\r\n"}) {
    run("A");
    log_in("run of " + std::string(refusal));
    link()->answer("+OK\r\n");
    run("A");
    EXPECT_THAT(link()->unanswered, ElementsAre(kSha)) << refusal;
    link()->answer(refusal);
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(link()->unanswered, ElementsAre(kText)) << refusal;
      link()->answer("+OK\r\n");
      run("A");
    }
    link()->close();
  }
}

TEST_F(NodeTest, Run_AfterTheServerChanged_SendsTheTextAgain) {
  run("A");
  log_in();
  link()->answer("+OK\r\n");
  link()->close();
  run("A");
  log_in("run-2");
  run("A");
  EXPECT_EQ(link()->unanswered.back(), kText);
}

TEST_F(NodeTest, Run_ManyRequests_ShareOneConnection) {
  for (const char* name : {"A", "B", "C"}) run(name);
  EXPECT_EQ(net.links.size(), 1U);
  log_in();
  for (const char* name : {"D", "E"}) run(name);
  EXPECT_EQ(net.links.size(), 1U);
  EXPECT_EQ(link()->unanswered.size(), 5U);
}

TEST_F(NodeTest, Run_KeysAndArguments_AreCountedApart) {
  turn([&] {
    const std::array<std::string_view, 2> keys = {"K1", "K2"};
    const std::array<std::string_view, 1> arguments = {"V"};
    node.run(kScript, keys, arguments, {}, note("A"));
  });
  log_in();
  EXPECT_THAT(link()->unanswered,
              ElementsAre(Request{"EVAL", std::string(kScript.text), "2", "K1", "K2", "V"}));
}

TEST_F(NodeTest, Run_BrokenConnection_TellsUncertainOnceAndTheNextOneGoesToANewOne) {
  run("A");
  log_in();
  link()->close();
  EXPECT_THAT(ends, ElementsAre("A=E_UNCERTAIN"));
  run("B");
  EXPECT_EQ(net.links.size(), 2U);
  log_in();
  EXPECT_EQ(link()->unanswered.size(), 1U);
}

TEST_F(NodeTest, Run_FromWithinTheEndOfABrokenConnection_GoesToANewOne) {
  turn([&] {
    node.run(kScript, {}, {}, {},
             [&](const Result<resp::View>&) { node.run(kScript, {}, {}, {}, note("next")); });
  });
  log_in();
  link()->close();
  ASSERT_EQ(net.links.size(), 2U);
  log_in();
  link()->answer("+OK\r\n");
  EXPECT_THAT(ends, ElementsAre("next=OK"));
}

TEST_F(NodeTest, Run_BehindAValuesUnansweredRequest_KillsTheBrokenConnectionFirst) {
  const auto route = std::make_shared<Route>();
  run("A", route, route);
  log_in();
  link()->close();
  run("B", route, route);
  log_in();
  EXPECT_THAT(link()->unanswered,
              ElementsAre(Request{"CLIENT", "KILL", "ID", "1"},
                          Request{"EVAL", std::string(kScript.text), "0", "B"}));
  link()->answer(":1\r\n");
  link()->answer("+OK\r\n");
  run("C", route, route);
  EXPECT_EQ(link()->unanswered.size(), 1U) << "killed once";
}

TEST_F(NodeTest, Run_WhatNamesAValue_GoesBehindItsUnansweredRequest) {
  const auto route = std::make_shared<Route>();
  run("A", route, route);
  log_in();
  link()->lends = true;
  const auto borrowed = node.latest();
  ASSERT_NE(borrowed->borrow(), nullptr);
  run("B");  // the borrowed connection serves until another one stands
  ASSERT_EQ(net.links.size(), 2U);
  log_in();
  run("C");
  run("D", route);
  turn([&] { borrowed->give_back(); });
  ASSERT_NE(borrowed->borrow(), nullptr);
  EXPECT_EQ(net.links[0]->unanswered.size(), 3U) << "A, B and D";
  EXPECT_EQ(net.links[1]->unanswered.size(), 1U) << "C";
  for (int i = 0; i < 3; ++i) net.links[0]->answer("+OK\r\n");
  run("E", route);
  EXPECT_EQ(net.links[1]->unanswered.size(), 2U) << "any connection serves then";
}

TEST_F(NodeTest, Run_RequestThatWasNeverSent_LeavesNothingToKill) {
  const auto route = std::make_shared<Route>();
  run("A", route, route);
  link()->close("refused");
  EXPECT_THAT(ends, ElementsAre("A=E_UNREACHABLE"));
  wait(100ms);
  run("B", route, route);
  log_in();
  EXPECT_EQ(link()->unanswered.size(), 1U);
}

TEST_F(NodeTest, Run_RequeueThatBroke_MarksBothValues) {
  const auto first = std::make_shared<Route>();
  const auto second = std::make_shared<Route>();
  run("A", first, second);
  EXPECT_EQ(second->unanswered, 1U);
  EXPECT_EQ(first->unanswered, 0U);
  log_in();
  link()->close();
  EXPECT_THAT(first->unfinished, ElementsAre("1"));
  EXPECT_THAT(second->unfinished, ElementsAre("1"));
  EXPECT_EQ(second->unanswered, 0U);
}

TEST_F(NodeTest, Withdraw_WhatWaitsForAConnection_IsNeverSentNorTold) {
  const auto route = std::make_shared<Route>();
  run("A", route, route);
  EXPECT_TRUE(node.withdraw(*route));
  EXPECT_EQ(route->unanswered, 0U);
  log_in();
  EXPECT_THAT(link()->unanswered, IsEmpty());
  EXPECT_THAT(ends, IsEmpty());
}

TEST_F(NodeTest, Withdraw_WhatNamesAnotherValueToo_IsRefused) {
  const auto first = std::make_shared<Route>();
  const auto second = std::make_shared<Route>();
  run("A", first, second);
  EXPECT_FALSE(node.withdraw(*second));
  log_in();
  EXPECT_EQ(link()->unanswered.size(), 1U);
}

TEST_F(NodeTest, Withdraw_WhatIsSent_IsRefused) {
  const auto route = std::make_shared<Route>();
  run("A", route, route);
  log_in();
  EXPECT_FALSE(node.withdraw(*route));
}

TEST_F(NodeTest, FailedConnect_IsToldAndNotTriedAgainAtOnce) {
  run("A");
  link()->close("Connection refused");
  EXPECT_THAT(ends, ElementsAre("A=E_UNREACHABLE"));
  run("B");
  EXPECT_EQ(net.links.size(), 1U);
  EXPECT_THAT(ends, ElementsAre("A=E_UNREACHABLE", "B=E_UNREACHABLE"));
  wait(50ms);
  run("C");
  EXPECT_EQ(net.links.size(), 2U);
}

TEST_F(NodeTest, RefusedLogIn_IsToldToWhatWaitedAndToWhatComesNext) {
  run("A");
  link()->open();
  for (int i = 0; i < 3; ++i) link()->answer("-NOAUTH Authentication required.\r\n");
  run("B");
  EXPECT_THAT(ends, ElementsAre("A=E_DENIED", "B=E_DENIED"));
}

TEST_F(NodeTest, Reconnected_SaysWhetherAnotherServerAnswers) {
  run("A");
  log_in("run-1");
  EXPECT_THAT(reconnected, IsEmpty());
  link()->close();
  run("B");
  log_in("run-1");
  EXPECT_THAT(reconnected, ElementsAre(false));
  link()->close();
  run("C");
  log_in("run-2");
  EXPECT_THAT(reconnected, ElementsAre(false, true));
}

TEST_F(NodeTest, Reconnected_ServerThatDoesNotSayWhoItIs_CountsAsAnother) {
  run("A");
  log_in("");
  link()->close();
  run("B");
  log_in("");
  EXPECT_THAT(reconnected, ElementsAre(true));
}

TEST_F(NodeTest, Connect_TellsWhenAConnectionIsReady) {
  std::optional<Status> told;
  turn([&] {
    node.connect([&](const auto& result) { told = result ? Status::kOk : result.error().status; });
  });
  EXPECT_FALSE(told);
  log_in();
  EXPECT_EQ(told, Status::kOk);
}

TEST_F(NodeTest, Connect_TellsWhatHinderedIt) {
  std::optional<Status> told;
  turn([&] {
    node.connect([&](const auto& result) { told = result ? Status::kOk : result.error().status; });
  });
  link()->open();
  link()->answer("+OK\r\n");
  link()->answer(":1\r\n");
  link()->answer(test::bulk("redis_version:5.0.0\r\n"));
  EXPECT_EQ(told, Status::kUnsupported);
}

TEST_F(NodeTest, Close_EndsAllAndEveryRequestAfterwards) {
  run("A");
  log_in();
  run("B");
  turn([&] { node.close(); });
  run("C");
  EXPECT_THAT(ends, ElementsAre("A=E_UNCERTAIN", "B=E_UNCERTAIN", "C=E_UNREACHABLE"));
  EXPECT_EQ(net.links.size(), 1U);
}

TEST_F(NodeTest, Command_ErrorReply_IsAnError) {
  turn([&] { node.command(std::array<std::string_view, 2>{"CLIENT", "LIST"}, {}, note("A")); });
  log_in();
  EXPECT_THAT(link()->unanswered, ElementsAre(Request{"CLIENT", "LIST"}));
  link()->answer("-NOPERM no\r\n");
  EXPECT_THAT(ends, ElementsAre("A=E_DENIED"));
}

}  // namespace
}  // namespace lockc

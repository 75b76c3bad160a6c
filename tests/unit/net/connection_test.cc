#include "net/connection.h"

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

struct ConnectionTest : testing::Test {
  ConnectionTest() { net.set_loop(loop); }

  std::shared_ptr<Connection> connect(Connection::Settings settings = {1s, 1s}) {
    auto made = Connection::open(
        loop, Endpoint(), settings,
        {[this] { ++opened; }, [this](const Error& why) { closed.push_back(why); }});
    link = net.links.back();
    return made;
  }
  std::shared_ptr<Connection> connect_ready() {
    auto made = connect();
    link->open();
    turn([&] { made->ready(); });
    return made;
  }
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
  uint64_t send(Connection& connection, std::string_view name) {
    return connection.send(std::array{name}, note(name));
  }
  // Keeps "name=reply" or "name=status" of each end.
  Connection::OnReply note(std::string_view name) {
    return [this, name = std::string(name)](const Result<resp::View>& reply) {
      const auto text = reply ? reply->text() : status_name(reply.error().status);
      ends.push_back(name + "=" + std::string(text));
    };
  }

  test::ManualClock clock;
  test::FakeTransport net;
  Loop loop{clock, net, Random(1)};
  std::shared_ptr<test::FakeLink> link;
  int opened = 0;
  std::vector<Error> closed;
  std::vector<std::string> ends;
};

TEST_F(ConnectionTest, Send_SeveralInOneTurn_LeaveInOneWriteInOrder) {
  const auto connection = connect_ready();
  turn([&] {
    for (const char* name : {"A", "B", "C"}) send(*connection, name);
    EXPECT_EQ(link->writes(), 0U);
  });
  EXPECT_EQ(link->writes(), 1U);
  EXPECT_THAT(link->unanswered, ElementsAre(Request{"A"}, Request{"B"}, Request{"C"}));
}

TEST_F(ConnectionTest, Replies_GoToTheirRequestsInOrder) {
  const auto connection = connect_ready();
  turn([&] {
    for (const char* name : {"A", "B", "C"}) send(*connection, name);
  });
  link->push("+1\r\n+2\r\n+");
  EXPECT_THAT(ends, ElementsAre("A=1", "B=2"));
  link->push("3\r\n");
  EXPECT_THAT(ends, ElementsAre("A=1", "B=2", "C=3"));
  EXPECT_EQ(connection->outstanding(), 0U);
}

TEST_F(ConnectionTest, Send_BeforeReady_WaitsBehindTheLogIn) {
  const auto connection = connect();
  turn([&] { send(*connection, "A"); });
  link->open();
  EXPECT_EQ(opened, 1);
  turn([&] { connection->send_first(std::array<std::string_view, 1>{"AUTH"}, note("AUTH")); });
  EXPECT_THAT(link->unanswered, ElementsAre(Request{"AUTH"}));
  link->answer("+OK\r\n");
  turn([&] { connection->ready(); });
  EXPECT_THAT(link->unanswered, ElementsAre(Request{"A"}));
}

TEST_F(ConnectionTest, Withdraw_OfWhatIsHeld_IsAsIfNeverSent) {
  const auto connection = connect();
  uint64_t first = 0;
  turn([&] {
    first = send(*connection, "A");
    send(*connection, "B");
  });
  EXPECT_TRUE(connection->withdraw(first));
  EXPECT_FALSE(connection->withdraw(first));
  link->open();
  turn([&] { connection->ready(); });
  EXPECT_THAT(link->unanswered, ElementsAre(Request{"B"}));
  EXPECT_TRUE(ends.empty());
}

TEST_F(ConnectionTest, Withdraw_OfWhatMayBeSent_IsTooLate) {
  const auto connection = connect_ready();
  uint64_t number = 0;
  turn([&] { number = send(*connection, "A"); });
  EXPECT_FALSE(connection->withdraw(number));
}

TEST_F(ConnectionTest, NoAnswerInTime_ClosesAndIsUncertain) {
  const auto connection = connect_ready();
  turn([&] { send(*connection, "A"); });
  wait(999ms);
  EXPECT_TRUE(ends.empty());
  wait(2ms);
  EXPECT_THAT(ends, ElementsAre("A=E_UNCERTAIN"));
  EXPECT_TRUE(connection->is_closed());
  EXPECT_TRUE(link->is_dropped());
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(closed[0].message, "127.0.0.1:6379: no answer within 1000 ms");
}

TEST_F(ConnectionTest, AnswerTime_CountsFromEachRequest) {
  const auto connection = connect_ready();
  turn([&] { send(*connection, "A"); });
  wait(900ms);
  turn([&] { send(*connection, "B"); });
  link->answer("+OK\r\n");
  wait(900ms);
  EXPECT_FALSE(connection->is_closed());
  wait(101ms);
  EXPECT_THAT(ends, ElementsAre("A=OK", "B=E_UNCERTAIN"));
}

TEST_F(ConnectionTest, AnswerTime_ShorterThanTheConnectTime_CountsFromTheFirstRequestOn) {
  const auto connection = connect({10s, 100ms});
  link->open();
  turn([&] { connection->ready(); });
  turn([&] { send(*connection, "A"); });
  wait(101ms);
  EXPECT_THAT(ends, ElementsAre("A=E_UNCERTAIN"));
}

TEST_F(ConnectionTest, NoConnectionInTime_ClosesAndIsUnreachable) {
  const auto connection = connect();
  turn([&] { send(*connection, "A"); });
  wait(1001ms);
  EXPECT_THAT(ends, ElementsAre("A=E_UNREACHABLE"));
  EXPECT_EQ(closed.at(0).status, Status::kUnreachable);
}

TEST_F(ConnectionTest, Opened_InTheTurnThatEndedItsTime_StaysClosed) {
  const auto connection = connect();
  clock.advance(1s);
  link->open();
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(closed.size(), 1U);
}

TEST_F(ConnectionTest, LogInThatHangs_CountsAsNoConnection) {
  const auto connection = connect();
  turn([&] { send(*connection, "A"); });
  link->open();
  turn([&] { connection->send_first(std::array<std::string_view, 1>{"AUTH"}, note("AUTH")); });
  wait(1001ms);
  EXPECT_THAT(ends, ElementsAre("AUTH=E_UNCERTAIN", "A=E_UNREACHABLE"));
}

TEST_F(ConnectionTest, Borrowed_RequestsCollectBehindSomeUnanswered) {
  const auto connection = connect_ready();
  link->lends = true;
  turn([&] {
    send(*connection, "A");
    ASSERT_NE(connection->borrow(), nullptr);
  });
  for (int i = 0; i < 20; ++i) turn([&] { send(*connection, "B"); });
  const size_t ahead = link->unanswered.size();
  EXPECT_GE(ahead, 2U) << "the server may work while its answers are taken in";
  EXPECT_LE(ahead, 10U) << "the server owes its reader enough";
  EXPECT_EQ(link->writes(), ahead) << "one by one";
  turn([&] { connection->give_back(); });
  EXPECT_EQ(link->unanswered.size(), 21U);
  EXPECT_EQ(link->writes(), ahead + 1);
}

TEST_F(ConnectionTest, Borrowed_RestOfARequestLeavesAtOnce) {
  const auto connection = connect_ready();
  link->lends = true;
  link->set_room(5);
  turn([&] {
    send(*connection, "A");
    send(*connection, "B");
    ASSERT_NE(connection->borrow(), nullptr);
  });
  EXPECT_EQ(link->unanswered.size(), 0U);
  link->set_room(std::string::npos);
  EXPECT_EQ(link->unanswered.size(), 2U) << "without it no answer would ever come";
}

TEST_F(ConnectionTest, Close_ToldOnceEach_SentIsUncertainUnsentUnreachable) {
  const auto connection = connect_ready();
  turn([&] { send(*connection, "A"); });
  link->set_room(0);
  turn([&] { send(*connection, "B"); });
  link->close();
  turn([&] { connection->close({Status::kUncertain, "again"}); });
  EXPECT_THAT(ends, ElementsAre("A=E_UNCERTAIN", "B=E_UNREACHABLE"));
  EXPECT_EQ(closed.size(), 1U);
}

TEST_F(ConnectionTest, Close_RequestSentInPart_IsUncertain) {
  const auto connection = connect_ready();
  link->set_room(5);
  turn([&] {
    send(*connection, "A");
    send(*connection, "B");
  });
  link->close();
  EXPECT_THAT(ends, ElementsAre("A=E_UNCERTAIN", "B=E_UNREACHABLE"));
}

TEST_F(ConnectionTest, BlockedWrite_GoesOnWhenThereIsRoom) {
  const auto connection = connect_ready();
  link->set_room(5);
  turn([&] {
    send(*connection, "A");
    send(*connection, "B");
  });
  EXPECT_TRUE(link->unanswered.empty());
  link->set_room(9);
  link->set_room(1000);
  EXPECT_THAT(link->unanswered, ElementsAre(Request{"A"}, Request{"B"}));
}

TEST_F(ConnectionTest, Close_RefusedLogIn_TellsItsReasonToWhatIsHeld) {
  const auto connection = connect();
  turn([&] { send(*connection, "A"); });
  link->open();
  turn([&] { connection->close({Status::kDenied, "wrong password"}); });
  EXPECT_THAT(ends, ElementsAre("A=E_DENIED"));
}

TEST_F(ConnectionTest, ReplyThatNothingAskedFor_Closes) {
  const auto connection = connect_ready();
  link->push("+surprise\r\n");
  EXPECT_TRUE(connection->is_closed());
  EXPECT_EQ(closed.at(0).status, Status::kServer);
}

TEST_F(ConnectionTest, ProtocolError_ClosesAndLeavesTheRestUncertain) {
  const auto connection = connect_ready();
  turn([&] {
    send(*connection, "A");
    send(*connection, "B");
  });
  link->push("+OK\r\nHTTP/1.1 400 Bad Request\r\n");
  EXPECT_THAT(ends, ElementsAre("A=OK", "B=E_UNCERTAIN"));
}

TEST_F(ConnectionTest, ReplyWhoseReceiverCloses_EndsTheOthers) {
  const auto connection = connect_ready();
  turn([&] {
    connection->send(std::array<std::string_view, 1>{"A"}, [&](const Result<resp::View>&) {
      connection->close({Status::kUncertain, "enough"});
    });
    send(*connection, "B");
  });
  link->push("+1\r\n+2\r\n");
  EXPECT_THAT(ends, ElementsAre("B=E_UNCERTAIN"));
}

TEST_F(ConnectionTest, SetPush_EveryReplyGoesThere) {
  const auto connection = connect_ready();
  std::vector<std::string> pushed;
  turn([&] {
    connection->set_push([&](resp::View push) { pushed.emplace_back(push.text()); });
    send(*connection, "SUBSCRIBE");
  });
  link->push("+1\r\n+2\r\n");
  EXPECT_THAT(pushed, ElementsAre("1", "2"));
  EXPECT_TRUE(ends.empty());
  EXPECT_EQ(connection->outstanding(), 0U);
}

TEST_F(ConnectionTest, Reading_BeginsWithTheFirstRequest) {
  const auto connection = connect_ready();
  EXPECT_FALSE(link->is_reading());
  turn([&] { send(*connection, "A"); });
  EXPECT_TRUE(link->is_reading());
}

}  // namespace
}  // namespace lockc

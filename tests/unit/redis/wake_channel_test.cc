#include "redis/wake_channel.h"

#include <gtest/gtest.h>

#include "../support/fake_transport.h"
#include "../support/manual_clock.h"
#include "../support/resp_text.h"

namespace lockc {
namespace {

using namespace std::chrono_literals;

TEST(WakeMessage, Parse_TakesTheKeyAsItIs) {
  const auto message = WakeMessage::parse("lc1:C:1:x:10:1 9007199254740991 8 a key  with spaces\n");
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->owner, "lc1:C:1:x:10:1");
  EXPECT_EQ(message->first, 9007199254740991U);
  EXPECT_EQ(message->count, 8U);
  EXPECT_EQ(message->key, "a key  with spaces\n");
}

TEST(WakeMessage, Parse_AnythingElse_IsNothing) {
  for (const char* payload :
       {"", "V", "V ", "V 1", "V 1 2", "V x 2 K", "V 1 x K", "V -1 2 K", "V 1  2 K",
        "V 9007199254740992 1 K", "V 18446744073709551616 1 K", "V 1 4294967296 K"}) {
    EXPECT_FALSE(WakeMessage::parse(payload).has_value()) << payload;
  }
}

struct WakeChannelTest : testing::Test {
  WakeChannelTest() { net.set_loop(loop); }

  void turn(const std::function<void()>& task) {
    loop.begin_turn();
    task();
    loop.end_turn();
  }
  void wait(Duration by) {
    clock.advance(by);
    turn([] {});
  }
  void want() {
    turn([this] { wake.want(); });
  }
  std::shared_ptr<test::FakeLink> link() const { return net.links.back(); }
  void log_in() {
    link()->open();
    for (const char* reply : {"+OK\r\n", ":1\r\n", "$0\r\n\r\n"}) link()->answer(reply);
  }
  void confirm() {
    log_in();
    link()->answer(
        test::array({test::bulk("subscribe"), test::bulk(wake.channel()), test::integer(1)}));
  }

  test::ManualClock clock;
  test::FakeTransport net;
  Loop loop{clock, net, Random(1)};
  Log log{0};
  const Node::Config config{Endpoint(), {1s, 1s}, {"CLIENT", "name"}};
  int confirmed = 0;
  int lost = 0;
  WakeChannel wake{
      loop, config, log, {[this] { ++confirmed; }, [this] { ++lost; }, [](const WakeMessage&) {}}};
};

TEST_F(WakeChannelTest, NobodyWaits_NoConnection) {
  wait(1min);
  EXPECT_TRUE(net.links.empty());
}

TEST_F(WakeChannelTest, Want_SubscribesOnceBehindTheLogIn) {
  want();
  want();
  EXPECT_EQ(net.links.size(), 1U);
  log_in();
  ASSERT_EQ(link()->unanswered.size(), 1U);
  EXPECT_EQ(link()->unanswered[0], (test::Request{"SUBSCRIBE", "lockc:wake:CLIENT"}));
  EXPECT_FALSE(wake.is_confirmed());
}

TEST_F(WakeChannelTest, Confirmed_IsToldOnce) {
  want();
  confirm();
  EXPECT_TRUE(wake.is_confirmed());
  EXPECT_EQ(confirmed, 1);
  EXPECT_EQ(lost, 0);
}

TEST_F(WakeChannelTest, Lost_ReconnectsOnlyWhenWanted) {
  want();
  confirm();
  link()->close();
  EXPECT_EQ(lost, 1);
  wait(1min);
  EXPECT_EQ(net.links.size(), 1U);
  want();
  confirm();
  EXPECT_EQ(confirmed, 2);
}

TEST_F(WakeChannelTest, FailedConnects_AreRepeatedWithBackOffWhileWanted) {
  want();
  for (size_t i = 1; i < 6; ++i) {
    link()->close("Connection refused");
    EXPECT_EQ(net.links.size(), i) << "not at once";
    wait(500ms);
    EXPECT_EQ(net.links.size(), i + 1);
  }
  EXPECT_EQ(lost, 0) << "there was nothing to lose";
}

TEST_F(WakeChannelTest, SubscriptionNeverConfirmed_IsGivenUp) {
  want();
  log_in();
  wait(1001ms);
  EXPECT_TRUE(net.links[0]->is_dropped());
}

TEST_F(WakeChannelTest, Denied_IsToldAndNotTriedAgain) {
  want();
  log_in();
  link()->answer("-NOPERM this user has no permissions to access the channel\r\n");
  EXPECT_TRUE(wake.is_denied());
  want();
  wait(1min);
  want();
  wait(1min);
  EXPECT_EQ(net.links.size(), 1U);
}

TEST_F(WakeChannelTest, Close_IsForGood) {
  want();
  confirm();
  turn([this] { wake.close(); });
  want();
  wait(1min);
  EXPECT_EQ(net.links.size(), 1U);
}

}  // namespace
}  // namespace lockc

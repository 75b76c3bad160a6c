#include "redis/login.h"

#include <gmock/gmock.h>

#include <optional>

#include "../support/fake_transport.h"
#include "../support/manual_clock.h"
#include "../support/resp_text.h"

namespace lockc {
namespace {

using namespace std::chrono_literals;
using test::Request;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(CheckVersion, From6Dot2On_Passes) {
  for (const char* version : {"6.2.0", "6.2", "6.10.1", "7.0.15", "8.1.1", "10.0.0", "7"}) {
    EXPECT_TRUE(check_version(std::string("redis_version:") + version + "\r\n").ok()) << version;
  }
}

TEST(CheckVersion, Older_IsUnsupportedAndNamed) {
  for (const char* version : {"6.0.16", "6.1.240", "5.0.14", "2.8"}) {
    const auto checked =
        check_version("# Server\r\nredis_version:" + std::string(version) + "\r\n");
    ASSERT_FALSE(checked.ok()) << version;
    EXPECT_EQ(checked.error().status, Status::kUnsupported);
    EXPECT_THAT(checked.error().message, HasSubstr(version));
  }
}

TEST(CheckVersion, LongText_IsQuotedUpToABound) {
  const auto checked = check_version("redis_version:5.0" + std::string(100'000, 'x') + "\r\n");
  ASSERT_FALSE(checked.ok());
  EXPECT_LT(checked.error().message.size(), 100U);
}

TEST(CheckVersion, NoVersionToRead_Passes) {
  for (const char* info :
       {"", "# Server\r\n", "redis_version:unknown\r\n", "xredis_version:1.0\r\n"}) {
    EXPECT_TRUE(check_version(info).ok()) << info;
  }
}

struct LogInTest : testing::Test {
  LogInTest() {
    net.set_loop(loop);
    connection = Connection::open(loop, Endpoint(), {1s, 1s}, {[] {}, [](const Error&) {}});
    net.links[0]->open();
  }
  void log_in_to(const Endpoint& endpoint) {
    loop.begin_turn();
    log_in(*connection, endpoint, {"CLIENT", "lockc:CLIENT:name"},
           [this](Result<ServerIdentity> told) { result.emplace(std::move(told)); });
    loop.end_turn();
  }
  void answer(std::initializer_list<std::string> replies) {
    for (const std::string& reply : replies) net.links[0]->answer(reply);
  }

  test::ManualClock clock;
  test::FakeTransport net;
  Loop loop{clock, net, Random(1)};
  std::shared_ptr<Connection> connection;
  std::optional<Result<ServerIdentity>> result;
};

const std::string kInfo = test::bulk("# Server\r\nredis_version:7.0.15\r\nrun_id:abc\r\n");

TEST_F(LogInTest, AllRequests_LeaveInOneWrite) {
  Endpoint endpoint;
  endpoint.username = "user";
  endpoint.password = "secret";
  endpoint.database = 3;
  log_in_to(endpoint);
  EXPECT_EQ(net.links[0]->writes(), 1U);
  EXPECT_THAT(net.links[0]->unanswered,
              ElementsAre(Request{"AUTH", "user", "secret"}, Request{"SELECT", "3"},
                          Request{"CLIENT", "SETNAME", "lockc:CLIENT:name"},
                          Request{"CLIENT", "ID"}, Request{"INFO", "server"}));
}

TEST_F(LogInTest, PasswordAlone_NamesNoUser) {
  Endpoint endpoint;
  endpoint.password = "secret";
  log_in_to(endpoint);
  EXPECT_EQ(net.links[0]->unanswered.at(0), (Request{"AUTH", "secret"}));
}

TEST_F(LogInTest, Success_TellsWhoTheServerIs) {
  log_in_to(Endpoint());
  answer({"+OK\r\n", ":17\r\n"});
  EXPECT_FALSE(result.has_value());
  answer({kInfo});
  ASSERT_TRUE(result && result->ok());
  EXPECT_EQ((*result)->client_id, "17");
  EXPECT_EQ((*result)->run_id, "abc");
}

TEST_F(LogInTest, RefusedConveniences_DoNotMatter) {
  log_in_to(Endpoint());
  answer({"-NOPERM no\r\n", "-NOPERM no\r\n", "-NOPERM no\r\n"});
  ASSERT_TRUE(result && result->ok());
  EXPECT_EQ((*result)->client_id, "");
  EXPECT_EQ((*result)->run_id, "");
}

TEST_F(LogInTest, RefusedAuth_IsDeniedInLockcsOwnWords) {
  for (const char* reply : {"-WRONGPASS invalid username-password pair\r\n",
                            "-ERR invalid password\r\n", "-ERR user uSeR has no such thing\r\n"}) {
    Endpoint endpoint;
    endpoint.username = "uSeR";
    endpoint.password = "secret";
    result.reset();
    log_in_to(endpoint);
    answer({reply, "-NOAUTH no\r\n", "-NOAUTH no\r\n", "-NOAUTH no\r\n"});
    ASSERT_TRUE(result && !result->ok()) << reply;
    EXPECT_EQ(result->error().status, Status::kDenied) << reply;
    EXPECT_THAT(result->error().message, Not(HasSubstr("uSeR")));
  }
}

TEST_F(LogInTest, MissingPassword_IsDenied) {
  log_in_to(Endpoint());
  answer({"-NOAUTH x\r\n", "-NOAUTH x\r\n", "-NOAUTH Authentication required.\r\n"});
  EXPECT_EQ(result->error().status, Status::kDenied);
}

TEST_F(LogInTest, RefusedSelect_FailsAndSaysWhichDatabase) {
  Endpoint endpoint;
  endpoint.database = 99;
  log_in_to(endpoint);
  answer({"-ERR DB index is out of range\r\n", "+OK\r\n", ":1\r\n", kInfo});
  ASSERT_TRUE(result && !result->ok());
  EXPECT_THAT(result->error().message, HasSubstr("SELECT 99"));
}

TEST_F(LogInTest, ServerThatStillLoads_IsNotReady) {
  log_in_to(Endpoint());
  answer({"+OK\r\n", ":1\r\n", "-LOADING Redis is loading the dataset in memory\r\n"});
  EXPECT_EQ(result->error().status, Status::kNotReady);
}

TEST_F(LogInTest, FullServer_SaysSoToTheFirstRequestAndIsNotReady) {
  log_in_to(Endpoint());
  answer({"-ERR max number of clients reached\r\n"});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->error().status, Status::kNotReady);
}

TEST_F(LogInTest, OldServer_IsUnsupported) {
  log_in_to(Endpoint());
  answer({"+OK\r\n", ":1\r\n", test::bulk("redis_version:6.0.16\r\n")});
  EXPECT_EQ(result->error().status, Status::kUnsupported);
}

TEST_F(LogInTest, ConnectionThatEnds_TellsNothing) {
  log_in_to(Endpoint());
  net.links[0]->close();
  EXPECT_FALSE(result.has_value());
}

}  // namespace
}  // namespace lockc

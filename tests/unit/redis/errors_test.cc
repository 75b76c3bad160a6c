#include "redis/errors.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockc {
namespace {

struct Row {
  std::string reply;
  Status status;
};

// The wrapped forms are those of Redis 6.2, which puts a script's error behind its own words.
std::string wrapped(const std::string& error) {
  return "ERR Error running script (call to f_0123456789012345678901234567890123456789): "
         "@user_script:12: @user_script: 12: -" +
         error;
}

TEST(ReplyError, FirstWordOrPhrase_GivesTheStatus) {
  const std::vector<Row> table = {
      {"OOM command not allowed when used memory > 'maxmemory'.", Status::kServerOom},
      {"READONLY You can't write against a read only replica.", Status::kReadOnly},
      {"NOREPLICAS Not enough good replicas to write.", Status::kReadOnly},
      {"MISCONF Redis is configured to save RDB snapshots", Status::kReadOnly},
      {"WRONGTYPE Operation against a key", Status::kWrongType},
      {"BUSY Redis is busy running a script.", Status::kNotReady},
      {"LOADING Redis is loading the dataset in memory", Status::kNotReady},
      {"MASTERDOWN Link with MASTER is down", Status::kNotReady},
      {"CLUSTERDOWN The cluster is down", Status::kNotReady},
      {"TRYAGAIN Multiple keys request during rehashing of slot", Status::kNotReady},
      {"MOVED 3999 127.0.0.1:6381", Status::kNotReady},
      {"ASK 3999 127.0.0.1:6381", Status::kNotReady},
      {"NOSCRIPT No matching script.", Status::kNotReady},
      {"NOAUTH Authentication required.", Status::kDenied},
      {"NOPERM this user has no permissions", Status::kDenied},
      {"WRONGPASS invalid username-password pair or user is disabled.", Status::kDenied},
      {"ERR invalid password", Status::kDenied},
      {"ERR Client sent AUTH, but no password is set", Status::kDenied},
      {"ERR AUTH <password> called without any password configured for the default user.",
       Status::kDenied},
      {"ERR ACL failure in script: User default has no permissions", Status::kDenied},
      {"ERR The user executing the script can't run this command", Status::kDenied},
      {"ERR max number of clients reached", Status::kNotReady},
      {"ERR unknown command 'EVAL'", Status::kUnsupported},
      {"ERR something else", Status::kServer},
      {"LOCKCFENCE unusable fence value", Status::kServer},
      {"LOCKCRECORD the key holds a hash that is not a record", Status::kWrongType},
      {"BUSYKEY Target key name already exists.", Status::kServer},
      {"BUSYGROUP Consumer Group name already exists", Status::kServer},
      {"", Status::kServer},
      {wrapped("OOM command not allowed when used memory > 'maxmemory'."), Status::kServerOom},
      {wrapped("READONLY You can't write against a read only replica."), Status::kReadOnly},
      {wrapped("NOREPLICAS Not enough good replicas to write."), Status::kReadOnly},
      {wrapped("MISCONF Redis is configured to save RDB snapshots"), Status::kReadOnly},
      {wrapped("WRONGTYPE Operation against a key"), Status::kWrongType},
      {wrapped("ERR something else"), Status::kServer},
      {"ERR Error running script (call to f_0): OOMS and BUSYNESS", Status::kServer},
  };
  for (const Row& row : table) {
    EXPECT_EQ(status_name(reply_error(row.reply).status), status_name(row.status)) << row.reply;
  }
}

TEST(ReplyError, Message_QuotesTheReplyUpToABound) {
  EXPECT_EQ(reply_error("ERR no").message, "the server answered: ERR no");
  EXPECT_LT(reply_error(std::string(100'000, 'x')).message.size(), 400U);
}

TEST(IsNoscript, OnlyTheAnswerThatSaysSo) {
  EXPECT_TRUE(is_noscript(reply_error("NOSCRIPT No matching script.")));
  EXPECT_TRUE(
      is_noscript(reply_error("ERR unknown command 'EVALSHA', with args beginning with: ")));
  EXPECT_FALSE(is_noscript(reply_error("ERR unknown command 'EVAL', with args beginning with: ")));
  EXPECT_FALSE(is_noscript(reply_error("NOPERM no permissions to run the 'eval' command")));
  EXPECT_FALSE(is_noscript(reply_error("LOADING Redis is loading")));
  EXPECT_FALSE(is_noscript(reply_error("ERR about NOSCRIPT")));
  EXPECT_FALSE(
      is_noscript({Status::kNotReady, "host:1: the server answered: NOSCRIPT to a log-in"}));
}

TEST(MayPass, TroubleOfTheServer_NotOfTheRequest) {
  for (const Status status : {Status::kUnreachable, Status::kUncertain, Status::kNotReady,
                              Status::kReadOnly, Status::kServerOom}) {
    EXPECT_TRUE(may_pass(status)) << status_name(status);
  }
  for (const Status status : {Status::kDenied, Status::kWrongType, Status::kServer,
                              Status::kUnsupported, Status::kClosed}) {
    EXPECT_FALSE(may_pass(status)) << status_name(status);
  }
}

}  // namespace
}  // namespace lockc

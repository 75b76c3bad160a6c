#include "net/resp.h"

#include <gmock/gmock.h>

#include <array>
#include <vector>

#include "../support/resp_text.h"
#include "base/random.h"

namespace lockc::resp {
namespace {

using Type = View::Type;

std::optional<Reply> parse(std::string_view text) {
  Parser parser;
  EXPECT_TRUE(parser.feed(text).ok());
  auto reply = parser.next();
  EXPECT_TRUE(reply.ok()) << reply.error().message;
  return std::move(*reply);
}

std::string numbers(size_t count) {
  return test::array(std::vector<std::string>(count, test::integer(1)));
}

TEST(AppendRequest, WritesAnArrayOfBulkStringsBehindWhatIsThere) {
  std::string out = "before";
  append_request(out, std::array<std::string_view, 3>{"SET", "", std::string_view("\0\r\n", 3)});
  EXPECT_EQ(out, std::string("before*3\r\n$3\r\nSET\r\n$0\r\n\r\n$3\r\n\0\r\n\r\n", 34));
}

TEST(AppendRequest, ManyArguments_AreAllThere) {
  std::vector<std::string_view> arguments(300, "x");
  std::string out;
  append_request(out, arguments);
  EXPECT_EQ(parse(out)->view().size(), 300U);
}

TEST(Parser, EachType_IsRead) {
  EXPECT_EQ(parse("+OK\r\n")->view().text(), "OK");
  EXPECT_EQ(parse("+OK\r\n")->view().type(), Type::kStatus);
  EXPECT_TRUE(parse("-ERR no\r\n")->view().is_error());
  EXPECT_EQ(parse("-ERR no\r\n")->view().text(), "ERR no");
  EXPECT_EQ(parse(":-7\r\n")->view().integer(), -7);
  EXPECT_EQ(parse("$3\r\na\r\n\r\n")->view().text(), "a\r\n");
  EXPECT_EQ(parse("$-1\r\n")->view().type(), Type::kNil);
  EXPECT_EQ(parse("*-1\r\n")->view().type(), Type::kNil);
  EXPECT_EQ(parse("*0\r\n")->view().size(), 0U);
}

TEST(View, NumbersTravelAsTextsToo) {
  EXPECT_EQ(parse("$19\r\n9007199253692416001\r\n")->view().number(), 9007199253692416001U);
  EXPECT_EQ(parse(":42\r\n")->view().number(), 42U);
  EXPECT_EQ(parse("$2\r\n-5\r\n")->view().integer(), -5);
}

TEST(View, NoNumber_IsTheGivenDefault) {
  for (const char* text : {"$1\r\nx\r\n", "$2\r\n1x\r\n", "$0\r\n\r\n", "*0\r\n", "$-1\r\n",
                           "$20\r\n99999999999999999999\r\n"}) {
    EXPECT_EQ(parse(text)->view().integer(-3), -3) << text;
    EXPECT_EQ(parse(text)->view().number(9), 9U) << text;
  }
  EXPECT_EQ(parse(":-1\r\n")->view().number(9), 9U);
}

TEST(View, ElementBeyondTheEnd_IsNil) {
  const auto reply = parse("*2\r\n:1\r\n*1\r\n$1\r\nx\r\n");
  EXPECT_EQ(reply->view()[1][0].text(), "x");
  EXPECT_EQ(reply->view()[2].type(), Type::kNil);
  EXPECT_EQ(reply->view()[0][0].type(), Type::kNil);
  EXPECT_EQ(reply->view()[9][9].text(), "");
}

TEST(Parser, BytesInAnyPortions_GiveTheSameReplies) {
  const std::string stream = test::queued() + "+OK\r\n" +
                             test::requeued(true, test::granted(5, 8)) + "$-1\r\n" +
                             test::error("ERR x");
  for (size_t portion = 1; portion <= stream.size(); ++portion) {
    Parser parser;
    std::vector<Type> types;
    for (size_t at = 0; at < stream.size(); at += portion) {
      ASSERT_TRUE(parser.feed(std::string_view(stream).substr(at, portion)).ok());
      for (auto reply = parser.next();; reply = parser.next()) {
        ASSERT_TRUE(reply.ok());
        if (!*reply) break;
        types.push_back((*reply)->view().type());
      }
    }
    EXPECT_THAT(types, testing::ElementsAre(Type::kArray, Type::kStatus, Type::kArray, Type::kNil,
                                            Type::kError));
  }
}

TEST(Parser, HostileInput_IsAFinalError) {
  const std::vector<std::string> hostile = {
      "hello\r\n",
      "\r\n",
      "HTTP/1.1 200 OK\r\n",
      "*4097\r\n",
      "*2147483647\r\n",
      "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
      test::array({numbers(2048), numbers(2048)}),
  };
  for (const std::string& text : hostile) {
    Parser parser;
    const auto fed = parser.feed(text);
    const auto next = parser.next();
    ASSERT_FALSE(fed.ok() && next.ok()) << text;
    EXPECT_EQ(next.error().status, Status::kServer) << text;
    EXPECT_FALSE(parser.feed("+OK\r\n").ok() && parser.next().ok()) << text;
  }
}

TEST(Parser, Elements_AreCountedAnewForEachReply) {
  Parser parser;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(parser.feed(test::array({numbers(4095)})).ok());
    const auto reply = parser.next();
    ASSERT_TRUE(reply.ok()) << reply.error().message;
    EXPECT_EQ((*reply)->view()[0].size(), 4095U);
  }
}

TEST(Parser, ReplyOfMoreThan16MiB_IsRefusedBeforeItIsKept) {
  Parser parser;
  ASSERT_TRUE(parser.feed("$500000000\r\n").ok());
  const std::string portion(1U << 20U, 'x');
  int fed = 0;
  while (fed < 100 && parser.feed(portion).ok()) {
    ++fed;
    const auto next = parser.next();
    ASSERT_TRUE(next.ok());
  }
  EXPECT_LE(fed, 16);
}

TEST(Parser, ManyRepliesInSum_AreNoReplyTooLong) {
  Parser parser;
  const std::string portion = test::bulk(std::string(1U << 20U, 'x'));
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(parser.feed(portion).ok()) << i;
    ASSERT_TRUE(parser.next()->has_value());
  }
}

TEST(Parser, RandomBytes_NeverDoHarm) {
  Random random(99);
  constexpr std::string_view kLikely = "*$:+-0123456789\r\n\r\n\r\nab";
  for (int round = 0; round < 3'000; ++round) {
    Parser parser;
    for (int part = 0; part < 4; ++part) {
      std::string bytes;
      for (size_t i = random.next() % 24; i > 0; --i) {
        bytes += random.next() % 10 == 0 ? static_cast<char>(random.next())
                                         : kLikely[random.next() % kLikely.size()];
      }
      if (!parser.feed(bytes).ok()) break;
      auto reply = parser.next();
      while (reply.ok() && *reply) reply = parser.next();
      if (!reply.ok()) break;
    }
  }
}

}  // namespace
}  // namespace lockc::resp

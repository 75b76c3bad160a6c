#include "net/endpoint.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockc {
namespace {

struct Good {
  std::string url;
  std::string name;
  std::string username{};
  std::string password{};
  uint32_t database = 0;
};

TEST(Endpoint, Parse_WellFormedUrls_GiveTheirParts) {
  const std::vector<Good> table = {
      {"redis://host", "host:6379"},
      {"redis://host/", "host:6379"},
      {"redis://host:7000", "host:7000"},
      {"redis://host:65535/15", "host:65535", "", "", 15},
      {"redis://127.0.0.1:1", "127.0.0.1:1"},
      {"redis://[::1]", "[::1]:6379"},
      {"redis://[2001:db8::7]:7000/3", "[2001:db8::7]:7000", "", "", 3},
      {"redis://:secret@host", "host:6379", "", "secret"},
      {"redis://user:secret@host:7000/1", "host:7000", "user", "secret", 1},
      {"redis://user@host", "host:6379", "user", ""},
      {"redis://us%3Aer:s%40c%2Fret@host", "host:6379", "us:er", "s@c/ret"},
      {"redis://user:p@ss/w:rd@host", "host:6379", "user", "p@ss/w:rd"},
      {"redis://user:%C3%A9%ff@host", "host:6379", "user", "\xc3\xa9\xff"},
      {"unix:///run/redis.sock", "/run/redis.sock"},
      {"unix:///run/redis.sock?db=4", "/run/redis.sock", "", "", 4},
      {"unix://user:secret@/run/redis.sock", "/run/redis.sock", "user", "secret"},
      {"unix:///a%20b%3Fc", "/a b?c"},
      {"unix:///" + std::string(106, 'p'), "/" + std::string(106, 'p')},
  };
  for (const Good& row : table) {
    const auto parsed = Endpoint::parse(row.url);
    ASSERT_TRUE(parsed.ok()) << row.url << ": " << parsed.error().message;
    EXPECT_EQ(parsed->name(), row.name) << row.url;
    EXPECT_EQ(parsed->username, row.username) << row.url;
    EXPECT_EQ(parsed->password, row.password) << row.url;
    EXPECT_EQ(parsed->database, row.database) << row.url;
    EXPECT_EQ(parsed->unix_socket, row.url.starts_with("unix")) << row.url;
  }
}

TEST(Endpoint, Parse_MalformedUrls_AreInvalid) {
  const std::vector<std::string> table = {
      "",
      "host",
      "host:6379",
      "http://host",
      "REDIS://host",
      "redis:host",
      "redis:/host",
      "redis://",
      "redis:///0",
      "redis://:7000",
      "redis://user@",
      "redis://host:",
      "redis://host:0",
      "redis://host:65536",
      "redis://host:-1",
      "redis://host:+1",
      "redis://host:6379x",
      "redis://host:99999999999",
      "redis://host:1:2",
      "redis://::1",
      "redis://::1:6379",
      "redis://[::1",
      "redis://[::1]6379",
      "redis://[]",
      "redis://[::1%25eth0]",
      "redis://host/x",
      "redis://host/-1",
      "redis://host/1/2",
      "redis://host/1000001",
      "redis://host/0?db=1",
      "redis://host#0",
      "redis://ho st",
      "redis://ho\nst",
      "redis://ho%41st",
      "redis://us%er@host",
      "redis://user:%@host",
      "redis://user:%4@host",
      "redis://user:%zz@host",
      "redis://user:%00@host",
      "unix://",
      "unix://path",
      "unix://./path",
      "unix:///p?db=",
      "unix:///p?db=x",
      "unix:///p?database=1",
      "unix:///p?db=1&x=2",
      "unix:///p?",
      "unix:///%0",
      "unix:///a%00b",
      "unix:///" + std::string(107, 'p'),
  };
  for (const std::string& url : table) {
    const auto parsed = Endpoint::parse(url);
    ASSERT_FALSE(parsed.ok()) << url;
    EXPECT_EQ(parsed.error().status, Status::kInvalid) << url;
    EXPECT_TRUE(parsed.error().message.starts_with("malformed url: ")) << parsed.error().message;
  }
}

TEST(Endpoint, Parse_Tls_IsUnsupported) {
  EXPECT_EQ(Endpoint::parse("rediss://host").error().status, Status::kUnsupported);
}

TEST(Endpoint, Parse_WhateverIsWrong_NeverQuotesUserOrPassword) {
  for (const std::string_view url : {
           "redis://uSeR:SeCrEt@",
           "redis://uSeR:SeCrEt@host:x",
           "redis://uSeR:SeCrEt@host/x",
           "redis://uSeR:SeCrEt%@host",
           "redis://uSeR:Se@CrEt@host:0",
           "redis://uSeR:Se/CrEt@ho st",
           "redis://uSeR:Se#CrEt?@[host",
           "http://uSeR:SeCrEt@host",
           "rediss://uSeR:SeCrEt@host",
           "redis://uSeR:SeCrEt",
           "redis://uSeR:SeCrEt/0",
           "unix://uSeR:SeCrEt@path",
           "unix://uSeR:SeCrEt@/path?SeCrEt",
           "redis://host/SeCrEt",
       }) {
    const std::string message = Endpoint::parse(url).error().message;
    for (const char* part : {"uSeR", "SeCrEt", "CrEt"}) {
      EXPECT_EQ(message.find(part), std::string::npos) << url << ": " << message;
    }
  }
}

}  // namespace
}  // namespace lockc

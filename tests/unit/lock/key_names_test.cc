#include "lock/key_names.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace lockc {
namespace {

// The slot that a Redis Cluster serves a key in, by the rule of the cluster specification.
unsigned cluster_slot(const std::string& key) {
  const size_t open = key.find('{');
  if (open == std::string::npos) return hash_slot(key);
  const size_t close = key.find('}', open);
  if (close == std::string::npos || close == open + 1) return hash_slot(key);
  return hash_slot(key.substr(open + 1, close - open - 1));
}

TEST(HashSlot, IsCrc16OfTheXmodemKind) {
  EXPECT_EQ(hash_slot("123456789"), 0x31C3U % 16384);  // the specification's own example
  EXPECT_EQ(hash_slot("foo"), 12182U);
  EXPECT_EQ(hash_slot(""), 0U);
}

TEST(HashTag, OwnTag_IsKept) {
  EXPECT_EQ(HashTag("{user1000}.following").text(), "user1000");
  EXPECT_EQ(HashTag("foo{{bar}}zap").text(), "{bar");
  EXPECT_EQ(HashTag("foo{bar}{zap}").text(), "bar");
}

TEST(HashTag, HarmlessKey_IsItsOwnTag) {
  EXPECT_EQ(HashTag("plain").text(), "plain");
  EXPECT_EQ(HashTag("a{b").text(), "a{b");
}

TEST(HashTag, KeyThatNoBracesCanHold_GetsTheSmallestNumberOfItsSlot) {
  EXPECT_EQ(HashTag("a}b").text(), "20658");
  EXPECT_EQ(HashTag("{}").text(), "42430");
  for (const std::string key : {"}", "}{", "a{}b", "foo{}{bar}", "{}{x}"}) {
    const std::string tag(HashTag(key).text());
    EXPECT_EQ(hash_slot(tag), hash_slot(key)) << key;
    for (int n = 0; n < std::stoi(tag); ++n)
      ASSERT_NE(hash_slot(std::to_string(n)), hash_slot(key));
  }
}

TEST(KeyNames, AreTheProtocols) {
  const KeyNames names(*Key::make("", "order:{42}"));
  EXPECT_EQ(names.key(), "order:{42}");
  EXPECT_EQ(names.fence(), "lockc:{42}:fence:order:{42}");
  EXPECT_EQ(names.queue(), "lockc:{42}:queue:order:{42}");
  EXPECT_EQ(names.seen(), "lockc:{42}:seen:order:{42}");
}

TEST(KeyNames, WhateverTheKey_AllAreInOneSlot) {
  Random random(4);
  constexpr std::string_view kLikely = "{}ab:\xff";
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (size_t i = 1 + random.next() % 8; i > 0; --i)
      text += kLikely[random.next() % kLikely.size()];
    const KeyNames names(*Key::make("", text));
    for (const std::string_view name : {names.fence(), names.queue(), names.seen()}) {
      ASSERT_EQ(cluster_slot(std::string(name)), cluster_slot(text)) << name;
    }
  }
}

}  // namespace
}  // namespace lockc

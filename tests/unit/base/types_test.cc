#include "base/types.h"

#include <gtest/gtest.h>

namespace lockc {
namespace {

using namespace std::chrono_literals;

TEST(Key, Make_PutsThePrefixBeforeTheName) { EXPECT_EQ(Key::make("app:", "k")->text(), "app:k"); }

TEST(Key, Make_KeepsEveryByte) {
  const std::string bytes("\0\xff\r\n {}", 7);
  EXPECT_EQ(Key::make("", bytes)->text(), bytes);
}

TEST(Key, Make_UpTo4096BytesWithThePrefix_Succeeds) {
  EXPECT_TRUE(Key::make("", std::string(4096, 'k')).ok());
  EXPECT_TRUE(Key::make("p", std::string(4095, 'k')).ok());
}

TEST(Key, Make_UnfitNames_AreInvalid) {
  EXPECT_EQ(Key::make("", "").error().status, Status::kInvalid);
  EXPECT_EQ(Key::make("prefix", "").error().status, Status::kInvalid);
  EXPECT_EQ(Key::make("p", std::string(4096, 'k')).error().status, Status::kInvalid);
  EXPECT_EQ(Key::make("", std::string_view("k", SIZE_MAX)).error().status, Status::kInvalid);
  EXPECT_EQ(Key::make("", "lockc:k").error().status, Status::kInvalid);
  EXPECT_EQ(Key::make("lock", "c:k").error().status, Status::kInvalid);
  EXPECT_TRUE(Key::make("", "lockc").ok());
}

TEST(Ttl, Make_TakesTenMillisecondsToOneYear) {
  EXPECT_EQ(Ttl::make(10)->millis(), 10ms);
  EXPECT_EQ(Ttl::make(31'536'000'000)->millis(), Millis(31'536'000'000));
  for (const int64_t ms :
       {int64_t{9}, int64_t{0}, int64_t{-1}, int64_t{31'536'000'001}, INT64_MIN, INT64_MAX}) {
    EXPECT_EQ(Ttl::make(ms).error().status, Status::kInvalid) << ms;
  }
}

TEST(Ttl, Proven_IsShorterByOnePercentAndThreeMilliseconds) {
  EXPECT_EQ(Ttl::make(10)->proven(), 10ms - 100us - 3ms);
  EXPECT_EQ(Ttl::make(30'000)->proven(), 29'697ms);
  EXPECT_EQ(Ttl::make(31'536'000'000)->proven(), Millis(31'536'000'000 - 315'360'000 - 3));
}

TEST(Owner, Text_SaysAllThatAnotherClientNeedsToGrantIt) {
  const Ttl ttl = *Ttl::make(30'000);
  EXPECT_EQ(Owner("CLIENT", 17, ttl, 8).text(), "lc1:CLIENT:17:x:30000:8");
  EXPECT_EQ(Owner("CLIENT", UINT64_MAX, ttl, 0).text(),
            "lc1:CLIENT:18446744073709551615:x:30000:0");
}

}  // namespace
}  // namespace lockc

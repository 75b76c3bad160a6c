#include "base/random.h"

#include <gmock/gmock.h>

#include <set>

namespace lockc {
namespace {

using namespace std::chrono_literals;

TEST(RandomName, Is22CharactersOfUrlSafeBase64) {
  for (int i = 0; i < 100; ++i)
    EXPECT_THAT(random_name(), testing::MatchesRegex("[A-Za-z0-9_-]{22}"));
}

TEST(RandomName, IsNewEachTime) {
  std::set<std::string> names;
  for (int i = 0; i < 10'000; ++i) names.insert(random_name());
  EXPECT_EQ(names.size(), 10'000U);
}

TEST(Random, SameSeed_SameNumbers) {
  Random one(5);
  Random other(5);
  Random different(6);
  const uint64_t number = one.next();
  EXPECT_EQ(number, other.next());
  EXPECT_NE(number, different.next());
}

TEST(Random, Unseeded_DiffersEachTime) { EXPECT_NE(Random().next(), Random().next()); }

TEST(Random, Between_ReachesBothEndsAndNothingElse) {
  Random random(1);
  std::set<Millis> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.between(3ms, 6ms));
  EXPECT_EQ(seen, (std::set<Millis>{3ms, 4ms, 5ms, 6ms}));
}

TEST(Random, Between_EmptyRange_IsItsBeginning) {
  Random random(1);
  EXPECT_EQ(random.between(5ms, 5ms), 5ms);
  EXPECT_EQ(random.between(5ms, 1ms), 5ms);
}

}  // namespace
}  // namespace lockc

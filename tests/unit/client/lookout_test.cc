// When a caller looks for its answer before it sleeps for it.
#include "client/lookout.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace lockc {
namespace {

using Looks = Lookout::Seen::Looks;

TEST(Lookout, ALoneCallerSleepsAtOnce) {
  Lookout lookout(4);
  EXPECT_EQ(lookout.looks(1), 0);
  EXPECT_GT(lookout.looks(2), 0);
}

TEST(Lookout, MoreCallersThanProcessorsSleepAtOnce) {
  Lookout lookout(4);
  EXPECT_GT(lookout.looks(4), 0);
  EXPECT_EQ(lookout.looks(5), 0);
  EXPECT_EQ(Lookout(1).looks(2), 0);
  EXPECT_EQ(Lookout(0).looks(2), 0) << "where their number is unknown";
}

// How many reads in a row are worth a look, if each comes to the same.
int reads_with_looks(Lookout& lookout, Looks come_to) {
  int reads = 0;
  while (lookout.looks(2) > 0 && ++reads < 1'000) lookout.learn(come_to);
  return reads;
}

TEST(Lookout, WhatPaysGoesOn) {
  Lookout lookout(2);
  EXPECT_EQ(reads_with_looks(lookout, Looks::kPaid), 1'000);
}

TEST(Lookout, WhatIsInVainIsGivenUp_AndTriedAgainSeldom) {
  Lookout lookout(2);
  const int at_first = reads_with_looks(lookout, Looks::kInVain);
  EXPECT_LT(at_first, 100);
  int pause = 1;
  while (lookout.looks(2) == 0 && pause < 100'000) ++pause;
  EXPECT_GT(pause, 1'000);
  EXPECT_LT(pause, 100'000);
  EXPECT_LT(reads_with_looks(lookout, Looks::kInVain), at_first) << "it is on trial";
}

TEST(Lookout, WhatTakesTooLongIsGivenUpSooner) {
  Lookout in_vain(2);
  Lookout too_long(2);
  EXPECT_LT(reads_with_looks(too_long, Looks::kTooLong), reads_with_looks(in_vain, Looks::kInVain));
}

TEST(Lookout, WhatPaysOnTrialIsTakenUpAgain) {
  Lookout lookout(2);
  reads_with_looks(lookout, Looks::kInVain);
  while (lookout.looks(2) == 0) continue;
  EXPECT_EQ(reads_with_looks(lookout, Looks::kPaid), 1'000);
}

struct LookoutRead : testing::Test {
  LookoutRead() : LookoutRead(pair()) {}
  ~LookoutRead() override { ::close(other); }
  Lookout::Seen read(int looks, Duration wait = Socket::kForever) {
    return Lookout::read(socket, buffer.data(), buffer.size(), wait, looks);
  }

  const Socket socket;
  const int other;
  std::array<char, 16> buffer{};

 private:
  explicit LookoutRead(std::array<int, 2> ends) : socket(ends[0]), other(ends[1]) {}
  static std::array<int, 2> pair() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) ADD_FAILURE();
    return ends;
  }
};

TEST_F(LookoutRead, WhatIsThereIsSeenAtTheFirstLook) {
  ASSERT_EQ(::write(other, "abc", 3), 3);
  const auto seen = read(1);
  EXPECT_EQ(seen.got, 3);
  EXPECT_EQ(seen.looks, Looks::kPaid);
}

TEST_F(LookoutRead, WithoutLooks_Blocks) {
  ASSERT_EQ(::write(other, "abc", 3), 3);
  const auto seen = read(0);
  EXPECT_EQ(seen.got, 3);
  EXPECT_EQ(seen.looks, Looks::kNone);
}

TEST_F(LookoutRead, BehindLooksInVain_BlocksForWhatComes) {
  std::thread writer([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(::write(other, "abc", 3), 3);
  });
  const auto seen = read(3);
  writer.join();
  EXPECT_EQ(seen.got, 3);
  EXPECT_NE(seen.looks, Looks::kPaid);
}

TEST_F(LookoutRead, BehindLooksInVain_BlocksNoLongerThanItsTime) {
  EXPECT_EQ(read(3, Millis(1)).got, Socket::kNothing);
}

TEST_F(LookoutRead, TheEndIsSeenByALook) {
  ::shutdown(other, SHUT_WR);
  EXPECT_EQ(read(1).got, 0);
}

}  // namespace
}  // namespace lockc

#include "client/completion_queue.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "../support/fake_transport.h"
#include "../support/manual_clock.h"
#include "lock/registry.h"

namespace lockc {
namespace {

using namespace std::chrono_literals;

Completion answer(uint64_t tag, Completion::Kind kind = Completion::Kind::kAcquire) {
  return {tag, kind, {}, nullptr};
}

bool is_readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

TEST(CompletionQueue, Take_GivesInOrderUpToTheCapacity) {
  CompletionQueue queue;
  for (const uint64_t tag : {1, 2, 3}) queue.complete(answer(tag));
  const auto first = queue.take(2, 0ms);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].tag, 1U);
  EXPECT_EQ(first[1].tag, 2U);
  EXPECT_EQ(queue.take(2, 0ms).at(0).tag, 3U);
  EXPECT_TRUE(queue.take(2, 0ms).empty());
}

TEST(CompletionQueue, Fd_IsReadableExactlyWhileCompletionsWait) {
  CompletionQueue queue;
  const int fd = queue.fd();
  EXPECT_FALSE(is_readable(fd));
  queue.complete(answer(1));
  queue.complete(answer(2));
  EXPECT_TRUE(is_readable(fd));
  (void)queue.take(1, 0ms);
  EXPECT_TRUE(is_readable(fd));
  (void)queue.take(1, 0ms);
  EXPECT_FALSE(is_readable(fd));
}

TEST(CompletionQueue, Fd_AskedForWhileCompletionsWait_IsReadable) {
  CompletionQueue queue;
  queue.complete(answer(1));
  EXPECT_TRUE(is_readable(queue.fd()));
}

TEST(CompletionQueue, Take_Waits_UntilAnotherThreadCompletes) {
  CompletionQueue queue;
  std::thread other([&queue] { queue.complete(answer(7)); });
  EXPECT_EQ(queue.take(1, kForever).at(0).tag, 7U);
  other.join();
  EXPECT_TRUE(queue.take(1, 1ms).empty());
}

TEST(CompletionQueue, Find_KnowsAnAcquireUntilItIsCompleted) {
  CompletionQueue queue;
  test::ManualClock clock;
  test::FakeTransport net;
  Loop loop(clock, net, Random(1));
  const AcquireRequest request{.key = *Key::make("", "k"), .ttl = *Ttl::make(1'000)};
  const auto waiter = std::make_shared<Waiter>(request, Owed(), loop);
  queue.remember(1, waiter);
  EXPECT_EQ(queue.find(1), waiter);
  EXPECT_EQ(queue.find(2), nullptr);
  queue.complete(answer(1, Completion::Kind::kExtend));
  EXPECT_EQ(queue.outstanding().size(), 1U) << "a tag may be used for other things, too";
  queue.complete(answer(1));
  EXPECT_EQ(queue.find(1), nullptr);
  EXPECT_TRUE(queue.outstanding().empty());
}

TEST(CompletionQueue, Close_ReturnsWhatNobodyTookAndDropsWhatComes) {
  CompletionQueue queue;
  const int fd = queue.fd();
  queue.complete(answer(1));
  EXPECT_EQ(queue.close().size(), 1U);
  EXPECT_FALSE(is_readable(fd));
  queue.complete(answer(2));
  EXPECT_FALSE(is_readable(fd));
  EXPECT_TRUE(queue.take(1, kForever).empty());
}

}  // namespace
}  // namespace lockc

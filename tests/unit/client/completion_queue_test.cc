#include "client/completion_queue.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "../support/client_rig.h"

namespace lockc {
namespace {

using namespace std::chrono_literals;

Completion answer(uint64_t tag, Completion::Kind kind = Completion::Kind::kAcquire) {
  return {tag, kind, {}, nullptr};
}

void complete(CompletionQueue& queue, Completion completion) {
  queue.expect();
  queue.complete(std::move(completion));
}

bool is_readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

TEST(CompletionQueue, Take_GivesInOrder) {
  CompletionQueue queue;
  for (const uint64_t tag : {1, 2}) complete(queue, answer(tag));
  EXPECT_EQ(queue.take(0ms)->tag, 1U);
  EXPECT_EQ(queue.take(0ms)->tag, 2U);
  EXPECT_FALSE(queue.take(0ms));
}

TEST(CompletionQueue, Fd_IsReadableExactlyWhileCompletionsWait) {
  CompletionQueue queue;
  const int fd = queue.fd();
  EXPECT_FALSE(is_readable(fd));
  complete(queue, answer(1));
  complete(queue, answer(2));
  EXPECT_TRUE(is_readable(fd));
  (void)queue.take(0ms);
  EXPECT_TRUE(is_readable(fd));
  (void)queue.take(0ms);
  EXPECT_FALSE(is_readable(fd));
}

TEST(CompletionQueue, Fd_AskedForWhileCompletionsWait_IsReadable) {
  CompletionQueue queue;
  complete(queue, answer(1));
  EXPECT_TRUE(is_readable(queue.fd()));
}

TEST(CompletionQueue, Take_Waits_UntilAnotherThreadCompletes) {
  CompletionQueue queue;
  std::thread other([&queue] { complete(queue, answer(7)); });
  EXPECT_EQ(queue.take(kForever)->tag, 7U);
  other.join();
  EXPECT_FALSE(queue.take(1ms));
}

TEST(CompletionQueue, Find_KnowsAnAcquireUntilItIsCompleted) {
  CompletionQueue queue;
  test::ClientRig rig;
  const AcquireRequest request{.key = *Key::make("", "k"), .ttl = *Ttl::make(1'000)};
  const auto waiter = std::make_shared<Waiter>(request, Owed(), rig.registry);
  queue.remember(1, waiter);
  EXPECT_EQ(queue.find(1), waiter);
  EXPECT_EQ(queue.find(2), nullptr);
  complete(queue, answer(1, Completion::Kind::kExtend));
  EXPECT_EQ(queue.outstanding().size(), 1U) << "a tag may be used for other things, too";
  complete(queue, answer(1));
  EXPECT_EQ(queue.find(1), nullptr);
  EXPECT_TRUE(queue.outstanding().empty());
}

TEST(CompletionQueue, Close_ReturnsWhatNobodyTookAndDropsWhatComes) {
  CompletionQueue queue;
  const int fd = queue.fd();
  complete(queue, answer(1));
  EXPECT_EQ(queue.close().size(), 1U);
  EXPECT_FALSE(is_readable(fd));
  complete(queue, answer(2));
  EXPECT_FALSE(is_readable(fd));
  EXPECT_FALSE(queue.take(kForever));
}

}  // namespace
}  // namespace lockc

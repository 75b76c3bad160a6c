// lockc::Queue: completions, loss events, cancelling, lifetime.
#include "test_support.h"

namespace {

using lockc::Client;
using lockc::Completion;
using lockc::Event;
using lockc::Lock;
using lockc::Queue;
using lockc::Status;

class QueueTest : public testing::Test {
 protected:
  // The next completion; a failure if none comes.
  Completion next() {
    std::vector<Completion> completions = queue.poll(3s, 1);
    EXPECT_EQ(completions.size(), 1u);
    return completions.empty() ? Completion{} : std::move(completions.front());
  }

  Client client;
  Client other;
  Queue queue{client};
  const std::string key = fresh_key();
};

TEST_F(QueueTest, Acquire_Completes) {
  EXPECT_GE(queue.fd(), 0);
  queue.acquire(11, key);
  Completion done = next();
  EXPECT_EQ(done.tag, 11u);
  EXPECT_EQ(done.event, Event::kAcquire);
  EXPECT_TRUE(done.outcome);
  EXPECT_TRUE(done.lock.held());
  EXPECT_TRUE(queue.poll(0ms).empty());
}

TEST_F(QueueTest, AcquireNow_AnswersOrCompletes) {
  client.connect(2s);
  Lock lock;
  if (queue.acquire_now(lock, 1, key) == Status::kPending) lock = next().lock;
  EXPECT_TRUE(lock.held());
  Lock second;
  EXPECT_EQ(queue.acquire_now(second, 2, key), Status::kPending);
  EXPECT_FALSE(second);
  lock.release();
  EXPECT_TRUE(next().lock.held());
}

TEST_F(QueueTest, ExtendAndRelease_CompleteThoughTheLockIsGone) {
  {
    const Lock lock = client.acquire(key);
    queue.extend(1, lock, 1min);
    queue.release(2, lock);
  }
  Completion extended = next();
  EXPECT_EQ(extended.event, Event::kExtend);
  EXPECT_EQ(extended.tag, 1u);
  Completion released = next();
  EXPECT_EQ(released.event, Event::kRelease);
  EXPECT_EQ(released.tag, 2u);
  EXPECT_TRUE(released.outcome);
  EXPECT_TRUE(is_free(other, key));
}

TEST_F(QueueTest, Cancel_EndsTheWait) {
  const Lock lock = other.acquire(key);
  queue.acquire(5, key);
  EXPECT_TRUE(queue.poll(20ms).empty());
  queue.cancel(5);
  const Completion done = next();
  EXPECT_EQ(done.outcome.status(), Status::kCancelled);
  EXPECT_FALSE(done.lock);
}

TEST_F(QueueTest, Events_TellLossOnce) {
  const Lock lock = client.acquire(key, {.ttl = 100ms, .events = &queue, .events_tag = 42});
  const Completion done = next();
  EXPECT_EQ(done.event, Event::kLost);
  EXPECT_EQ(done.tag, 42u);
  EXPECT_EQ(done.outcome.status(), Status::kLost);
  EXPECT_FALSE(lock.held());
  EXPECT_TRUE(queue.poll(50ms).empty());
}

TEST_F(QueueTest, UntakenCompletions_GiveTheirLocksBack) {
  queue.acquire(1, key);
  EXPECT_TRUE(within(2s, [&] { return !is_free(other, key); }));
  { const Queue closed = std::move(queue); }
  EXPECT_TRUE(within(2s, [&] { return is_free(other, key); }));
}

TEST_F(QueueTest, DroppedCompletions_GiveTheirLocksBack) {
  queue.acquire(1, key);
  EXPECT_EQ(queue.poll(3s).size(), 1u);
  EXPECT_TRUE(within(2s, [&] { return is_free(other, key); }));
}

TEST_F(QueueTest, Poll_TakesNoMoreThanAsked) {
  for (std::uint64_t i = 0; i < 5; ++i) queue.acquire(i, fresh_key());
  std::size_t taken = 0;
  while (taken < 5) {
    const std::vector<Completion> completions = queue.poll(3s, 2);
    ASSERT_FALSE(completions.empty());
    EXPECT_LE(completions.size(), 2u);
    taken += completions.size();
  }
  EXPECT_TRUE(queue.poll(0ms).empty());
}

TEST_F(QueueTest, BadInput_ThrowsAndNothingCompletes) {
  EXPECT_EQ(thrown_by([&] { queue.acquire(1, ""); }), Status::kInvalid);
  EXPECT_EQ(thrown_by([&] { queue.extend(1, Lock(), 1s); }), Status::kInvalid);
  EXPECT_EQ(thrown_by([&] { queue.release(1, Lock()); }), Status::kInvalid);
  EXPECT_EQ(thrown_by([&] { queue.poll(-1ms); }), Status::kInvalid);
  EXPECT_TRUE(queue.poll(20ms).empty());
}

TEST_F(QueueTest, ClosedClient_CompletesWhatIsOutstanding) {
  const Lock lock = other.acquire(key);
  queue.acquire(1, key);
  client.close();
  const Completion done = next();
  EXPECT_EQ(done.outcome.status(), Status::kClosed);
  EXPECT_EQ(thrown_by([&] { queue.acquire(2, key); }), Status::kClosed);
}

}  // namespace

// lockc::Lock: scope, release, waiting, the options of an acquire.
#include "test_support.h"

namespace {

using lockc::AcquireOptions;
using lockc::Client;
using lockc::Lock;
using lockc::Status;

class LockTest : public testing::Test {
 protected:
  Client client;
  Client other;
  const std::string key = fresh_key();
};

TEST_F(LockTest, Scope_HoldsAndGivesBack) {
  {
    const Lock lock = client.acquire(key);
    EXPECT_TRUE(lock.held());
    EXPECT_GT(lock.token(), 0u);
    EXPECT_GT(lock.remaining(), 20s);
    EXPECT_EQ(lock.owner().substr(0, 4), "lc1:");
    EXPECT_EQ(lock.lost_reason(), lockc::LostReason::kNot);
    EXPECT_FALSE(other.try_acquire(key));
  }
  EXPECT_TRUE(within(2s, [&] { return is_free(other, key); }));
}

TEST_F(LockTest, Scope_LeftByException_GivesBack) {
  EXPECT_THROW(
      {
        const Lock lock = client.acquire(key);
        throw std::runtime_error("work failed");
      },
      std::runtime_error);
  EXPECT_TRUE(within(2s, [&] { return is_free(other, key); }));
}

TEST_F(LockTest, Release_SaysWhetherItWasOurs) {
  Lock lock = client.acquire(key);
  EXPECT_TRUE(lock.release());
  EXPECT_TRUE(is_free(other, key));
  EXPECT_FALSE(lock.release());
  lockc::Outcome outcome;
  lock.release(outcome);
  EXPECT_EQ(outcome.status(), Status::kNotHeld);
  EXPECT_FALSE(outcome.failed());
}

TEST_F(LockTest, ReleaseNowait_EndsItHereAtOnceAndThereSoon) {
  Lock lock = client.acquire(key);
  EXPECT_TRUE(lock.release_nowait());
  EXPECT_FALSE(lock.held());
  EXPECT_TRUE(within(5s, [&] { return is_free(other, key); }));
  EXPECT_FALSE(lock.release_nowait());
  lockc::Outcome outcome;
  lock.release_nowait(outcome);
  EXPECT_EQ(outcome.status(), Status::kNotHeld);
  lock = {};
  EXPECT_EQ(thrown_by([&] { lock.release_nowait(); }), Status::kInvalid);
}

TEST_F(LockTest, Moved_HoldsOnInItsTarget) {
  Lock first = client.acquire(key);
  Lock second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_FALSE(first.held());
  EXPECT_EQ(first.token(), 0u);
  EXPECT_EQ(first.owner(), "");
  EXPECT_EQ(thrown_by([&] { first.release(); }), Status::kInvalid);
  EXPECT_TRUE(second.held());
  EXPECT_FALSE(other.try_acquire(key));
}

TEST_F(LockTest, Assigned_GivesBackWhatItHeld) {
  const std::string second_key = fresh_key();
  Lock lock = client.acquire(key);
  lock = client.acquire(second_key);
  EXPECT_TRUE(within(2s, [&] { return is_free(other, key); }));
  EXPECT_FALSE(is_free(other, second_key));
}

TEST_F(LockTest, Acquire_Busy_ThrowsAfterTheWaitAndNamesTheKey) {
  const Lock lock = client.acquire(key);
  const auto start = std::chrono::steady_clock::now();
  try {
    other.acquire(key, {.wait = 100ms});
    FAIL() << "acquired";
  } catch (const lockc::Error& error) {
    EXPECT_EQ(error.status(), Status::kTimeout);
    EXPECT_NE(std::string(error.what()).find(key), std::string::npos) << error.what();
  }
  EXPECT_GE(std::chrono::steady_clock::now() - start, 99ms);
  EXPECT_EQ(thrown_by([&] { other.acquire(key, {.wait = 0ms}); }), Status::kBusy);
  lockc::Outcome outcome;
  EXPECT_FALSE(other.acquire(key, {.wait = 10ms}, outcome));
  EXPECT_EQ(outcome.status(), Status::kTimeout);
  EXPECT_FALSE(outcome.failed());
}

TEST_F(LockTest, TryAcquire_AsksOnceWhateverTheWait) {
  const Lock lock = client.acquire(key);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(other.try_acquire(key, {.wait = 1min}));
  lockc::Outcome outcome;
  EXPECT_FALSE(other.try_acquire(key, {}, outcome));
  EXPECT_EQ(outcome.status(), Status::kBusy);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  EXPECT_TRUE(other.try_acquire(fresh_key()));
}

TEST_F(LockTest, Acquire_BadInput_IsInvalid) {
  const AcquireOptions bad[] = {{.ttl = 9ms}, {.ttl = -1ms}, {.wait = -1ms}, {.max_hold = -1s}};
  for (const AcquireOptions& options : bad) {
    EXPECT_EQ(thrown_by([&] { client.acquire(key, options); }), Status::kInvalid);
  }
  EXPECT_EQ(thrown_by([&] { client.acquire(""); }), Status::kInvalid);
  EXPECT_EQ(thrown_by([&] { client.acquire("lockc:key"); }), Status::kInvalid);
}

TEST_F(LockTest, Key_MayHoldAnyByte) {
  const std::string binary("a\0b\xff", 4);
  const Lock lock = client.acquire(binary);
  EXPECT_FALSE(other.try_acquire(binary));
  EXPECT_TRUE(other.try_acquire(std::string_view("a\0c\xff", 4)));
}

TEST_F(LockTest, Ttl_IsAFixedLeaseUnlessRenewed) {
  Lock fixed = client.acquire(key, {.ttl = 200ms});
  const Lock renewed = client.acquire(fresh_key(), {.ttl = 200ms, .renew = true});
  EXPECT_TRUE(within(2s, [&] { return fixed.lost_reason() == lockc::LostReason::kExpired; }));
  EXPECT_FALSE(fixed.held());
  EXPECT_FALSE(fixed.release());
  EXPECT_EQ(thrown_by([&] { fixed.extend(1s); }), Status::kLost);
  EXPECT_TRUE(renewed.held());
}

TEST_F(LockTest, Extend_MakesItLonger) {
  Lock lock = client.acquire(key, {.ttl = 2s});
  lock.extend(20s);
  EXPECT_GT(lock.remaining(), 15s);
  EXPECT_EQ(thrown_by([&] { lock.extend(0ms); }), Status::kInvalid);
  lock.release();
  lockc::Outcome outcome;
  lock.extend(20s, outcome);
  EXPECT_EQ(outcome.status(), Status::kNotHeld);
}

TEST_F(LockTest, Unfenced_HasNoToken) {
  EXPECT_EQ(client.acquire(key, {.fenced = false}).token(), 0u);
}

TEST_F(LockTest, Owner_EntersAgain) {
  Lock outer = client.acquire(key, {.owner = 7});
  Lock inner = client.acquire(key, {.wait = 0ms, .owner = 7});
  EXPECT_EQ(inner.token(), outer.token());
  EXPECT_FALSE(client.try_acquire(key, {.owner = 8}));
  EXPECT_TRUE(inner.release());
  EXPECT_FALSE(is_free(other, key));
  EXPECT_TRUE(outer.release());
  EXPECT_TRUE(is_free(other, key));
}

TEST_F(LockTest, Spin_GivesUpAfterItsTries) {
  const Lock lock = client.acquire(key);
  EXPECT_EQ(thrown_by([&] { other.acquire(key, {.spin = true, .max_tries = 2}); }), Status::kBusy);
}

}  // namespace

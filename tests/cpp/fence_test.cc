// lockc::Fence and the records of lockc::Client: what they refuse, and how that is told.
#include "test_support.h"

namespace {

using lockc::Client;
using lockc::Fence;
using lockc::Outcome;
using lockc::Record;
using lockc::Status;

TEST(Fence, SmallerToken_IsStale) {
  Fence fence;
  fence.check(41);
  fence.check(43);
  EXPECT_EQ(thrown_by([&] { fence.check(42); }), Status::kStale);
  fence.check(43);
  EXPECT_EQ(fence.token(), 43U);
  Outcome outcome;
  fence.check(42, outcome);
  EXPECT_EQ(outcome.status(), Status::kStale);
  EXPECT_FALSE(outcome.failed());
}

TEST(Fence, Token0_IsInvalid) {
  Fence fence;
  EXPECT_EQ(thrown_by([&] { fence.check(0); }), Status::kInvalid);
}

TEST(Fence, MovedFrom_IsInvalid) {
  Fence fence;
  const Fence other = std::move(fence);
  EXPECT_EQ(thrown_by([&] { fence.check(1); }), Status::kInvalid);
}

TEST(Records, ReadTellsWhatWasWritten) {
  Client client;
  const std::string key = fresh_key();
  EXPECT_EQ(client.read(key).version, 0U);
  const std::string bytes("a\0b", 3);
  const std::uint64_t version = client.write(key, bytes, {.token = 42});
  const Record record = client.read(key);
  EXPECT_EQ(record.value, bytes);
  EXPECT_EQ(record.version, version);
  EXPECT_EQ(record.token, 42U);
}

TEST(Records, SmallerToken_ThrowsOrTellsStale) {
  Client client;
  const std::string key = fresh_key();
  client.write(key, "new", {.token = 42});
  EXPECT_EQ(thrown_by([&] { client.write(key, "late", {.token = 41}); }), Status::kStale);
  Outcome outcome;
  EXPECT_EQ(client.write(key, "late", {.token = 41}, outcome), 0U);
  EXPECT_EQ(outcome.status(), Status::kStale);
  EXPECT_EQ(client.read(key).value, "new");
}

TEST(Records, OtherVersion_ThrowsConflict) {
  Client client;
  const std::string key = fresh_key();
  const std::uint64_t first = client.write(key, "first", {.version = 0});
  client.write(key, "second", {.version = first});
  EXPECT_EQ(thrown_by([&] { client.write(key, "third", {.version = first}); }), Status::kConflict);
  EXPECT_EQ(thrown_by([&] { client.write(key, "third", {.version = 0}); }), Status::kConflict);
  EXPECT_EQ(client.read(key).value, "second");
}

TEST(Records, Trouble_ThrowsOrTells) {
  Client nowhere("redis://127.0.0.1:1");
  EXPECT_EQ(thrown_by([&] { nowhere.read("key"); }), Status::kUnreachable);
  EXPECT_EQ(thrown_by([&] { nowhere.write("key", "v"); }), Status::kUnreachable);
  EXPECT_EQ(thrown_by([&] { nowhere.write("key", "v", {.ttl = 1ms}); }), Status::kInvalid);
  Outcome outcome;
  EXPECT_EQ(nowhere.read("key", outcome).version, 0U);
  EXPECT_EQ(outcome.status(), Status::kUnreachable);
}

TEST(Records, HolderThatPausedPastItsLease_CannotWriteBehindTheNext) {
  Client client;
  const std::string key = fresh_key();
  lockc::Queue events(client);
  const lockc::Lock paused = client.acquire(key, {.ttl = 1s, .events = &events});
  ASSERT_EQ(events.poll(20s).size(), 1U);
  const lockc::Lock next = client.acquire(key);
  client.write(key + ":data", "by the next", {.token = next.token()});
  EXPECT_EQ(thrown_by([&] { client.write(key + ":data", "late", {.token = paused.token()}); }),
            Status::kStale);
  EXPECT_EQ(client.read(key + ":data").value, "by the next");
}

}  // namespace

// lockc::Client: opening, options, errors, lifetime.
#include "test_support.h"

namespace {

using lockc::Client;
using lockc::ClientOptions;
using lockc::Status;

// Nothing listens at the lowest port.
constexpr char kNowhere[] = "redis://127.0.0.1:1";

TEST(Client, Open_SendsNothing) { EXPECT_NO_THROW(Client client(kNowhere)); }

TEST(Client, Open_EmptyUrl_UsesTheEnvironment) { EXPECT_NO_THROW(Client().connect(2s)); }

TEST(Client, Open_MalformedUrl_ThrowsInvalidWithoutThePassword) {
  try {
    Client client("redis://user:s3cret@host:port");
    FAIL() << "opened";
  } catch (const lockc::Error& error) {
    EXPECT_EQ(error.status(), Status::kInvalid);
    EXPECT_EQ(std::string(error.what()).find("s3cret"), std::string::npos);
  }
}

TEST(Client, Open_Tls_ThrowsUnsupported) {
  EXPECT_EQ(thrown_by([] { Client client("rediss://localhost"); }), Status::kUnsupported);
}

TEST(Client, Open_OptionOutOfRange_ThrowsInvalidThatNamesIt) {
  const ClientOptions bad[] = {
      {.connect_timeout = -1ms}, {.reply_timeout = 24h * 365 * 1000},
      {.default_ttl = 9ms},      {.default_ttl = -1s},
      {.handover = -1ms},        {.renew_batch = 1001},
      {.handover_max = 1001},
  };
  const char* const names[] = {"connect_timeout", "reply_timeout", "default_ttl", "default_ttl",
                               "handover",        "renew_batch",   "handover_max"};
  for (std::size_t i = 0; i < std::size(bad); ++i) {
    try {
      Client client(kNowhere, bad[i]);
      ADD_FAILURE() << names[i] << " was taken";
    } catch (const lockc::Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalid);
      EXPECT_NE(std::string(error.what()).find(names[i]), std::string::npos) << error.what();
    }
  }
}

TEST(Client, Options_ReachTheCore) {
  Client client({}, {.key_prefix = "prefix:", .default_ttl = 7s});
  Client plain;
  const std::string key = fresh_key();
  const lockc::Lock lock = client.acquire(key);
  EXPECT_TRUE(is_free(plain, key));
  EXPECT_FALSE(is_free(plain, "prefix:" + key));
  EXPECT_LE(lock.remaining(), 7s);
  EXPECT_GT(lock.remaining(), 6s);
}

TEST(Client, Connect_Unreachable_ThrowsOrTells) {
  Client client(kNowhere);
  EXPECT_EQ(thrown_by([&] { client.connect(100ms); }), Status::kUnreachable);
  lockc::Outcome outcome;
  client.connect(100ms, outcome);
  EXPECT_EQ(outcome.status(), Status::kUnreachable);
  EXPECT_TRUE(outcome.failed());
  EXPECT_FALSE(outcome);
  EXPECT_STRNE(outcome.message(), "");
}

TEST(Client, Acquire_Unreachable_ThrowsOrTells) {
  Client client(kNowhere);
  const lockc::AcquireOptions options = {.wait = 50ms};
  EXPECT_EQ(thrown_by([&] { client.acquire("key", options); }), Status::kUnreachable);
  EXPECT_EQ(thrown_by([&] { client.try_acquire("key"); }), Status::kUnreachable);
  lockc::Outcome outcome;
  EXPECT_FALSE(client.acquire("key", options, outcome));
  EXPECT_EQ(outcome.status(), Status::kUnreachable);
  EXPECT_FALSE(client.try_acquire("key", {}, outcome));
  EXPECT_EQ(outcome.status(), Status::kUnreachable);
}

TEST(Client, MovedFrom_IsInvalid) {
  Client client;
  Client target = std::move(client);
  EXPECT_EQ(thrown_by([&] { client.acquire("key"); }), Status::kInvalid);
  EXPECT_NO_THROW(target.acquire(fresh_key()));
}

TEST(Client, Closed_ItsLocksAreClosed) {
  Client client;
  Client other;
  const std::string key = fresh_key();
  lockc::Lock lock = client.acquire(key);
  client.close();
  EXPECT_EQ(thrown_by([&] { lock.release(); }), Status::kClosed);
  EXPECT_EQ(lock.lost_reason(), lockc::LostReason::kClosed);
  EXPECT_FALSE(lock.held());
  EXPECT_TRUE(is_free(other, key));
}

TEST(Client, Inspect_BadKey_Throws) {
  Client client;
  EXPECT_EQ(thrown_by([&] { client.inspect(""); }), Status::kInvalid);
}

TEST(Status, Names) {
  EXPECT_STREQ(lockc::name(Status::kBusy), "BUSY");
  EXPECT_STREQ(lockc::name(Status::kUncertain), "E_UNCERTAIN");
}

}  // namespace

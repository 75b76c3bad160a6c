#include "client/options.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace lockc {
namespace {

using namespace std::chrono_literals;

TEST(ClientOptions, Check_Defaults_Pass) { EXPECT_TRUE(ClientOptions().check().ok()); }

TEST(ClientOptions, Check_ValueOutOfRange_IsInvalidAndNamed) {
  struct Row {
    std::string name;
    std::function<void(ClientOptions&)> spoil;
  };
  const std::vector<Row> table = {
      {"connect_timeout_ms", [](auto& o) { o.connect_timeout = 0ms; }},
      {"connect_timeout_ms", [](auto& o) { o.connect_timeout = 24h + 1ms; }},
      {"reply_timeout_ms", [](auto& o) { o.reply_timeout = -1ms; }},
      {"default_ttl_ms", [](auto& o) { o.default_ttl = 9ms; }},
      {"default_ttl_ms", [](auto& o) { o.default_ttl = 24h * 366; }},
      {"renew_every_ms", [](auto& o) { o.renew_every = -1ms; }},
      {"renew_every_ms", [](auto& o) { o.renew_every = 15'001ms; }},
      {"fence_retention_ms", [](auto& o) { o.fence_retention = 999ms; }},
      {"fence_retention_ms", [](auto& o) { o.fence_retention = 24h * 366; }},
      {"renew_batch", [](auto& o) { o.renew_batch = 0; }},
      {"renew_batch", [](auto& o) { o.renew_batch = 1'001; }},
      {"handover_max", [](auto& o) { o.handover_max = 0; }},
      {"handover_max", [](auto& o) { o.handover_max = 1'001; }},
      {"handover_ms", [](auto& o) { o.handover_time = 0ms; }},
      {"spin_min_ms", [](auto& o) { o.spin_min = 0ms; }},
      {"spin_max_ms", [](auto& o) { o.spin_max = 1ms; }},
      {"key_prefix", [](auto& o) { o.key_prefix = std::string(4096, 'p'); }},
      {"client_name", [](auto& o) { o.client_name = std::string(201, 'n'); }},
      {"client_name", [](auto& o) { o.client_name = "two words"; }},
      {"client_name", [](auto& o) { o.client_name = "line\n"; }},
      {"client_name", [](auto& o) { o.client_name = "\xc3\xa9"; }},
  };
  for (const Row& row : table) {
    ClientOptions options;
    row.spoil(options);
    const auto checked = options.check();
    ASSERT_FALSE(checked.ok()) << row.name;
    EXPECT_EQ(checked.error().status, Status::kInvalid);
    EXPECT_TRUE(checked.error().message.starts_with(row.name)) << checked.error().message;
  }
}

TEST(ClientOptions, Check_ValuesAtTheirBounds_Pass) {
  ClientOptions options;
  options.connect_timeout = options.reply_timeout = options.handover_time = 24h;
  options.default_ttl = 24h * 365;
  options.renew_every = 24h * 365 / 2;
  options.fence_retention = 1s;
  options.renew_batch = options.handover_max = 1'000;
  options.spin_min = options.spin_max = 1ms;
  options.key_prefix = std::string(4095, 'p');
  options.client_name = std::string(200, 'n');
  EXPECT_TRUE(options.check().ok());
}

}  // namespace
}  // namespace lockc

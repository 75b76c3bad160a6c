// What a client is configured with, checked and with every default filled in. A plain value.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/status.h"
#include "base/types.h"
#include "net/endpoint.h"

namespace lockc {

struct ClientOptions {
  Endpoint endpoint;
  Millis connect_timeout{1'000};
  Millis reply_timeout{1'000};
  uint32_t max_waiters = 0;
  std::string key_prefix;
  std::string client_name;  // "": host/pid
  Millis default_ttl{30'000};
  Millis renew_every{0};  // 0: a third of each ttl
  Millis fence_retention{60'000};
  uint32_t renew_batch = 128;
  uint32_t handover_max = 8;
  Millis handover_time{20};
  Millis spin_min{2};
  Millis spin_max{250};
  int log_fd = 0;

  // The first thing that is wrong, named by its option; nothing is sent before this has passed.
  Result<std::monostate> check() const;
};

}  // namespace lockc

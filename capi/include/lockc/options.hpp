// lockc for C++17: options of a client and of an acquire, and how they become those of lockc.h.
#ifndef LOCKC_OPTIONS_HPP
#define LOCKC_OPTIONS_HPP

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "lockc/lockc.h"
#include "lockc/outcome.hpp"

namespace lockc {

using Duration = std::chrono::milliseconds;

// Options of a Client; the members, defaults and ranges of lockc_client_options.
struct ClientOptions {
  std::string key_prefix = {};     // put before every key
  std::string client_name = {};    // shown by CLIENT LIST; default host/pid
  std::string username = {};       // in place of the URL's
  std::string password = {};       // in place of the URL's
  Duration connect_timeout = {};   // default 1 s
  Duration reply_timeout = {};     // default 1 s
  Duration default_ttl = {};       // ttl of acquires that name none; default 30 s
  Duration renew_every = {};       // default a third of each lock's ttl
  Duration fence_retention = {};   // default 60 s
  Duration handover = {};          // longest chain of grants inside this client; default 20 ms
  Duration spin_min = {};          // back-off from; default 2 ms
  Duration spin_max = {};          // back-off up to; default 250 ms
  std::uint32_t max_waiters = 0;   // default no bound
  std::uint32_t renew_batch = 0;   // keys per renewal command; default 128
  std::uint32_t handover_max = 0;  // grants in such a chain; default 8
  int log_fd = 0;                  // warnings go to this descriptor; default nowhere
};

class Queue;

// Options of an acquire; the same words as in Python and Go.
struct AcquireOptions {
  Duration ttl = {};                            // default ClientOptions::default_ttl
  std::optional<bool> renew = std::nullopt;     // default: renewed unless a ttl is given
  std::optional<Duration> wait = std::nullopt;  // none: for ever; zero: one try
  bool fair = false;                            // first come, first served over all clients
  std::uint64_t owner = 0;                      // non-zero: this owner may enter again
  Duration max_hold = {};                       // renewal stops so long after the grant
  bool spin = false;                            // ask with back-off: no queue, no subscription
  std::uint32_t max_tries = 0;                  // with spin: kBusy after so many
  bool fenced = true;                           // false: no token, a little cheaper
  bool permissive = false;                      // loss is told, no more
  Queue* events = nullptr;                      // where Event::kLost of the grant goes
  std::uint64_t events_tag = 0;                 // its tag
};

namespace detail {

inline const char* or_null(const std::string& text) noexcept {
  return text.empty() ? nullptr : text.c_str();
}

// -1 is the ABI's "for ever", so a negative duration is passed on as another negative number.
inline std::int64_t wait_ms(const std::optional<Duration>& wait) noexcept {
  if (!wait) return LOCKC_WAIT_FOREVER;
  return wait->count() < 0 ? std::numeric_limits<std::int32_t>::min() : wait->count();
}

// A duration for one of the ABI's unsigned 32-bit members, which could not refuse it itself.
inline std::uint32_t narrow(Duration duration, const char* option) {
  if (duration.count() < 0 || duration.count() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(Status::kInvalid, std::string(option) + " is out of range");
  }
  return static_cast<std::uint32_t>(duration.count());
}

inline lockc_client_options to_c(const ClientOptions& options) {
  lockc_client_options c = {};
  c.struct_size = sizeof c;
  c.key_prefix = or_null(options.key_prefix);
  c.client_name = or_null(options.client_name);
  c.username = or_null(options.username);
  c.password = or_null(options.password);
  c.connect_timeout_ms = narrow(options.connect_timeout, "connect_timeout");
  c.reply_timeout_ms = narrow(options.reply_timeout, "reply_timeout");
  c.default_ttl_ms = options.default_ttl.count();
  c.renew_every_ms = options.renew_every.count();
  c.fence_retention_ms = options.fence_retention.count();
  c.handover_ms = narrow(options.handover, "handover");
  c.spin_min_ms = narrow(options.spin_min, "spin_min");
  c.spin_max_ms = narrow(options.spin_max, "spin_max");
  c.max_waiters = options.max_waiters;
  c.renew_batch = options.renew_batch;
  c.handover_max = options.handover_max;
  c.log_fd = options.log_fd;
  return c;
}

}  // namespace detail
}  // namespace lockc

#endif  // LOCKC_OPTIONS_HPP

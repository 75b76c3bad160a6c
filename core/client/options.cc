#include "client/options.h"

#include <algorithm>

namespace lockc {
namespace {

constexpr Millis kLongestTimeout = std::chrono::hours(24);
constexpr Millis kLongestRetention = std::chrono::hours(24 * 365);
constexpr size_t kLongestName = 200;

Error invalid(const std::string& name, const std::string& why) {
  return {Status::kInvalid, name + " " + why};
}

Result<std::monostate> within(const std::string& name, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return std::monostate{};
  const std::string unit = name.ends_with("_ms") ? " ms" : "";
  return invalid(name, "is " + std::to_string(value) + unit + ", not within " +
                           std::to_string(low) + " and " + std::to_string(high) + unit);
}

}  // namespace

Result<std::monostate> ClientOptions::check() const {
  const int64_t day = kLongestTimeout.count();
  const int64_t year = kLongestRetention.count();
  for (const auto& checked : {
           within("connect_timeout_ms", connect_timeout.count(), 1, day),
           within("reply_timeout_ms", reply_timeout.count(), 1, day),
           within("default_ttl_ms", default_ttl.count(), Ttl::kMin.count(), Ttl::kMax.count()),
           within("renew_every_ms", renew_every.count(), 0, default_ttl.count() / 2),
           within("fence_retention_ms", fence_retention.count(), 1'000, year),
           within("renew_batch", renew_batch, 1, 1'000),
           within("handover_max", handover_max, 1, 1'000),
           within("handover_ms", handover_time.count(), 1, day),
           within("spin_min_ms", spin_min.count(), 1, day),
           within("log_fd", log_fd, 0, INT32_MAX),
           within("spin_max_ms", spin_max.count(), spin_min.count(), day),
       }) {
    if (!checked) return checked;
  }
  if (key_prefix.size() >= Key::kMaxSize) return invalid("key_prefix", "leaves no room for a key");
  if (client_name.size() > kLongestName) return invalid("client_name", "is longer than 200 bytes");
  // CLIENT SETNAME takes no spaces and no control characters.
  if (std::ranges::any_of(client_name, [](char c) { return c <= ' ' || c > '~'; })) {
    return invalid("client_name", "has a space or a character beyond printable ASCII");
  }
  return std::monostate{};
}

}  // namespace lockc

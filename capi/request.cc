// Keys and lockc_acquire_options in the core's words: every rule about them is checked here, before
// anything is sent.
#include "handles.h"
#include "options.h"

namespace lockc::capi {
namespace {

constexpr uint32_t kAllFlags =
    LOCKC_RENEW | LOCKC_NO_RENEW | LOCKC_SPIN | LOCKC_PERMISSIVE | LOCKC_UNFENCED;

Error invalid(std::string what) { return {Status::kInvalid, std::move(what)}; }

Error check(const lockc_acquire_options& o) {
  if ((o.flags & ~kAllFlags) != 0)
    return invalid("flags has a bit that this version does not know");
  if ((o.flags & LOCKC_RENEW) != 0 && (o.flags & LOCKC_NO_RENEW) != 0) {
    return invalid("flags has both LOCKC_RENEW and LOCKC_NO_RENEW");
  }
  if (o.kind < 0) return invalid("kind is negative");
  if (o.kind > LOCKC_FAIR) {
    return {Status::kUnsupported, "kind " + std::to_string(o.kind) + " is not in this version"};
  }
  const bool spin = (o.flags & LOCKC_SPIN) != 0;
  if (spin && o.kind == LOCKC_FAIR)
    return invalid("LOCKC_SPIN keeps no order, so it cannot be fair");
  if (o.max_tries != 0 && !spin) return invalid("max_tries is for LOCKC_SPIN only");
  if (o.wait_ms < LOCKC_WAIT_FOREVER) {
    return invalid("wait_ms is " + std::to_string(o.wait_ms) +
                   "; only -1, for ever, may be negative");
  }
  if (o.max_hold_ms < 0) return invalid("max_hold_ms is negative");
  if (o.owner != 0 && (o.flags & LOCKC_UNFENCED) != 0) {
    return invalid("a re-entrant owner needs a fenced lock");
  }
  return {};
}

Result<Key> read_key(const Client& client, const char* key, size_t key_len) {
  if (key == nullptr) return null_error("key");
  return Key::make(client.options().key_prefix, {key, key_len});
}

}  // namespace

Result<Subject> read_subject(lockc_client* client, const char* key, size_t key_len) {
  auto core = core_of(client);
  if (!core) return core.error();
  auto made = read_key(**core, key, key_len);
  if (!made) return made.error();
  return Subject{std::move(*core), std::move(*made)};
}

Result<AcquireRequest> read_request(const Client& client, const char* key, size_t key_len,
                                    const lockc_acquire_options* given) {
  auto made_key = read_key(client, key, key_len);
  if (!made_key) return made_key.error();
  const auto options = copy_options(given, "lockc_acquire_options");
  if (!options) return options.error();
  if (Error error = check(*options); error.status != Status::kOk) return error;
  const int64_t default_ttl = client.options().default_ttl.count();
  const auto ttl = Ttl::make(options->ttl_ms == 0 ? default_ttl : options->ttl_ms);
  if (!ttl) return ttl.error();

  AcquireRequest request{std::move(*made_key), *ttl};
  request.renew = (options->flags & LOCKC_RENEW) != 0 ||
                  (options->ttl_ms == 0 && (options->flags & LOCKC_NO_RENEW) == 0);
  request.fair = options->kind == LOCKC_FAIR;
  request.spin = (options->flags & LOCKC_SPIN) != 0;
  request.fenced = (options->flags & LOCKC_UNFENCED) == 0;
  request.wait = Millis(options->wait_ms);
  request.max_hold = Millis(options->max_hold_ms);
  request.max_tries = options->max_tries;
  request.owner = options->owner;
  if (options->events != nullptr) {
    if (options->events->is_inherited()) return forked_error();
    if (options->events->client().get() != &client) {
      return invalid("events belongs to another client");
    }
    request.events = options->events->queue();
    request.events_tag = options->events_tag;
  }
  return request;
}

}  // namespace lockc::capi

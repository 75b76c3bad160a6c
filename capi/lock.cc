// lockc_client_acquire and lockc_lock_*: one grant, from its acquire to its end.
#include <algorithm>

#include "guard.h"
#include "handles.h"

using lockc::Completion;
using lockc::Error;
using lockc::Millis;
using lockc::Status;
using lockc::Ttl;
using lockc::capi::core_of;
using lockc::capi::guard;
using lockc::capi::null_error;

namespace {

// What makes a lock useless before anything is asked.
Error unusable(const lockc_lock* lock) {
  if (lock == nullptr) return null_error("lock");
  if (lock->is_inherited()) return lockc::capi::forked_error();
  if (lock->client()->is_closed()) return lockc::capi::closed_error();
  return {};
}

}  // namespace

lockc_lock* lockc_lock::make(const std::shared_ptr<lockc::Client>& client,
                             std::shared_ptr<lockc::Grant> grant) {
  try {
    return new lockc_lock(client, grant);
  } catch (const std::bad_alloc&) {
    client->release(grant, lockc::Owed());
    throw;
  }
}

lockc_status lockc_client_acquire(lockc_lock** out, lockc_client* client, const char* key,
                                  size_t key_len, const lockc_acquire_options* opts,
                                  lockc_error** err) {
  return guard(err, [&]() -> Error {
    if (out == nullptr) return null_error("out");
    *out = nullptr;
    const auto core = core_of(client);
    if (!core) return core.error();
    auto request = lockc::capi::read_request(**core, key, key_len, opts);
    if (!request) return request.error();
    Completion done = (*core)->acquire(std::move(*request));
    if (done.grant != nullptr) *out = lockc_lock::make(*core, std::move(done.grant));
    return std::move(done.outcome);
  });
}

lockc_status lockc_lock_extend(lockc_lock* lock, int64_t ttl_ms, lockc_error** err) {
  return guard(err, [&]() -> Error {
    if (Error error = unusable(lock); error.status != Status::kOk) return error;
    const auto ttl = Ttl::make(ttl_ms);
    if (!ttl) return ttl.error();
    return lock->client()->extend(lock->grant(), *ttl);
  });
}

lockc_status lockc_lock_release(lockc_lock* lock, lockc_error** err) {
  return guard(err, [&]() -> Error {
    if (Error error = unusable(lock); error.status != Status::kOk) return error;
    return lock->client()->release(lock->grant());
  });
}

lockc_status lockc_lock_release_nowait(lockc_lock* lock, lockc_error** err) {
  return guard(err, [&]() -> Error {
    if (Error error = unusable(lock); error.status != Status::kOk) return error;
    return lock->client()->release_nowait(lock->grant());
  });
}

void lockc_lock_free(lockc_lock* lock) {
  if (lock == nullptr) return;
  guard([&] {
    if (unusable(lock).status == Status::kOk && !lock->grant()->is_given_back()) {
      lock->client()->release(lock->grant(), lockc::Owed());
    }
  });
  delete lock;
}

uint64_t lockc_lock_token(const lockc_lock* lock) {
  return lock == nullptr ? 0 : lock->grant()->token().value;
}

int64_t lockc_lock_remaining_ms(const lockc_lock* lock) {
  if (lock == nullptr || lock->is_inherited() || lock->client()->is_closed()) return 0;
  const auto left = lock->grant()->remaining(lock->client()->now());
  return std::chrono::ceil<Millis>(left).count();
}

const char* lockc_lock_owner(const lockc_lock* lock) {
  const char* text = "";
  guard([&] {
    if (lock != nullptr) text = lock->grant()->owner_text();
  });
  return text;
}

int32_t lockc_lock_lost_reason(const lockc_lock* lock) {
  if (lock == nullptr) return LOCKC_LOST_NOT;
  if (lock->is_inherited()) return LOCKC_LOST_FORKED;
  return static_cast<int32_t>(lock->grant()->loss());
}

// lockc_queue_*: the same operations without waiting for them.
#include <algorithm>

#include "guard.h"
#include "handles.h"

using lockc::Completion;
using lockc::Error;
using lockc::Millis;
using lockc::Owed;
using lockc::Status;
using lockc::Ttl;
using lockc::capi::core_of;
using lockc::capi::guard;
using lockc::capi::null_error;

static_assert(sizeof(lockc_completion) == 32);
static_assert(LOCKC_DONE_ACQUIRE == static_cast<int>(Completion::Kind::kAcquire));
static_assert(LOCKC_DONE_EXTEND == static_cast<int>(Completion::Kind::kExtend));
static_assert(LOCKC_DONE_RELEASE == static_cast<int>(Completion::Kind::kRelease));
static_assert(LOCKC_EVENT_LOST == static_cast<int>(Completion::Kind::kLost));

namespace {

Error unusable(const lockc_queue* queue) {
  if (queue == nullptr) return null_error("queue");
  if (queue->is_inherited()) return lockc::capi::forked_error();
  if (queue->client()->is_closed()) return lockc::capi::closed_error();
  return {};
}

Error unusable(const lockc_queue* queue, const lockc_lock* lock) {
  if (lock == nullptr) return null_error("lock");
  if (Error error = unusable(queue); error.status != Status::kOk) return error;
  if (lock->client() != queue->client()) {
    return {Status::kInvalid, "lock belongs to another client than queue"};
  }
  return {};
}

// A completion in the caller's terms.
void give(const lockc_queue& queue, Completion& done, lockc_completion& entry) {
  entry = {done.tag, static_cast<int32_t>(done.kind), 0, nullptr, nullptr};
  entry.status = guard(&entry.error, [&]() -> Error {
    if (done.grant == nullptr) return std::move(done.outcome);
    entry.lock = lockc_lock::make(queue.client(), std::move(done.grant));
    return {};
  });
}

Error pending() { return {Status::kPending, {}}; }

}  // namespace

lockc_status lockc_queue_open(lockc_queue** out, lockc_client* client, lockc_error** err) {
  return guard(err, [&]() -> Error {
    if (out == nullptr) return null_error("out");
    *out = nullptr;
    const auto core = core_of(client);
    if (!core) return core.error();
    *out = new lockc_queue(*core);
    return {};
  });
}

void lockc_queue_close(lockc_queue* queue) {
  if (queue == nullptr) return;
  guard([&] {
    if (!queue->is_inherited()) queue->client()->close(*queue->queue());
  });
  delete queue;
}

int lockc_queue_fd(const lockc_queue* queue) {
  if (queue == nullptr || queue->is_inherited()) return -1;
  return queue->queue()->fd();
}

int32_t lockc_queue_poll(lockc_queue* queue, lockc_completion* out, int32_t capacity,
                         int32_t timeout_ms) {
  if (queue == nullptr || out == nullptr || capacity <= 0 || timeout_ms < -1) {
    return LOCKC_E_INVALID;
  }
  if (queue->is_inherited()) return LOCKC_E_FORKED;
  int32_t count = 0;
  const lockc_status status = guard(nullptr, [&]() -> Error {
    Millis wait(timeout_ms);
    while (count < capacity) {
      auto done = queue->queue()->take(wait);
      if (!done) break;
      give(*queue, *done, out[count++]);
      wait = Millis::zero();
    }
    return {};
  });
  return status == LOCKC_OK ? count : status;
}

lockc_status lockc_queue_acquire(lockc_queue* queue, uint64_t tag, lockc_lock** now,
                                 const char* key, size_t key_len, const lockc_acquire_options* opts,
                                 lockc_error** err) {
  return guard(err, [&]() -> Error {
    if (now != nullptr) *now = nullptr;
    if (Error error = unusable(queue); error.status != Status::kOk) return error;
    auto request = lockc::capi::read_request(*queue->client(), key, key_len, opts);
    if (!request) return request.error();
    Completion done =
        queue->client()->acquire(std::move(*request), queue->queue(), tag, now != nullptr);
    if (done.grant != nullptr) *now = lockc_lock::make(queue->client(), std::move(done.grant));
    return std::move(done.outcome);
  });
}

lockc_status lockc_queue_extend(lockc_queue* queue, uint64_t tag, lockc_lock* lock, int64_t ttl_ms,
                                lockc_error** err) {
  return guard(err, [&]() -> Error {
    if (Error error = unusable(queue, lock); error.status != Status::kOk) return error;
    const auto ttl = Ttl::make(ttl_ms);
    if (!ttl) return ttl.error();
    queue->client()->extend(lock->grant(), *ttl,
                            Owed(queue->queue(), Completion::Kind::kExtend, tag));
    return pending();
  });
}

lockc_status lockc_queue_release(lockc_queue* queue, uint64_t tag, lockc_lock* lock,
                                 lockc_error** err) {
  return guard(err, [&]() -> Error {
    if (Error error = unusable(queue, lock); error.status != Status::kOk) return error;
    queue->client()->release(lock->grant(), Owed(queue->queue(), Completion::Kind::kRelease, tag));
    return pending();
  });
}

void lockc_queue_cancel(lockc_queue* queue, uint64_t tag) {
  guard([&] {
    if (unusable(queue).status == Status::kOk) queue->client()->cancel(*queue->queue(), tag);
  });
}

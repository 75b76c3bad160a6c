// lockc_fence_*: the resource's side of fencing, inside one process.
#include "guard.h"
#include "handles.h"

lockc_status lockc_fence_new(lockc_fence** out, lockc_error** err) {
  return lockc::capi::guard(err, [&]() -> lockc::Error {
    if (out == nullptr) return lockc::capi::null_error("out");
    *out = nullptr;
    *out = new lockc_fence;
    return {};
  });
}

lockc_status lockc_fence_check(lockc_fence* fence, uint64_t token) {
  if (fence == nullptr || token == 0) return LOCKC_E_INVALID;
  uint64_t largest = fence->largest.load();
  while (token > largest) {
    if (fence->largest.compare_exchange_weak(largest, token)) return LOCKC_OK;
  }
  return token == largest ? LOCKC_OK : LOCKC_STALE;
}

uint64_t lockc_fence_token(const lockc_fence* fence) {
  return fence == nullptr ? 0 : fence->largest.load();
}

void lockc_fence_free(lockc_fence* fence) { delete fence; }

// One grant of one key: the handle of the C ABI, with what Python asks of it. Methods need the GIL.
#pragma once

#include <lockc/lockc.h>

#include <cstdint>
#include <memory>
#include <string>

#include "error.h"
#include "losses.h"

namespace lockc::python {

class Grant {
 public:
  // Owns `lock`. `losses` is null for a grant of an event loop, which is told by its own queue.
  Grant(lockc_lock* lock, std::string key, std::shared_ptr<Losses> losses);

  // Gives a lease that is still held back, behind itself, with a ResourceWarning.
  ~Grant();
  Grant(const Grant&) = delete;
  Grant& operator=(const Grant&) = delete;

  const std::string& key() const { return key_; }
  uint64_t token() const { return lockc_lock_token(lock_); }
  std::string owner() const { return lockc_lock_owner(lock_); }
  int64_t remaining_ms() const { return lockc_lock_remaining_ms(lock_); }
  int32_t lost_reason() const { return lockc_lock_lost_reason(lock_); }

  // Lost: ended by anything but our own release.
  bool is_lost() const;
  // A release of it was asked for.
  bool is_ended() const { return ended_; }

  // Blocks until lost (true), released, or timeout_ms are over (false); -1: no bound.
  bool wait_lost(int64_t timeout_ms);
  void extend(int64_t ttl_ms);
  // False: it was no longer ours.
  bool release();
  // The same without waiting, with the GIL. True also means that nothing is known yet.
  bool release_nowait();

  // For requests by a queue, which answer there.
  lockc_lock* handle() const { return lock_; }
  void end() { ended_ = true; }

 private:
  bool was_ours(lockc_status released, const ErrorPtr& error);

  lockc_lock* const lock_;
  const std::string key_;
  const std::shared_ptr<Losses> losses_;
  bool ended_ = false;
};

}  // namespace lockc::python

// One grant as its holder sees it. Written inside the loop, read from any thread without a lock.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/types.h"
#include "lock/operation.h"

namespace lockc {

class Claim;

enum class LossReason : int32_t { kNone = 0, kExpired = 1, kTaken = 2, kLimit = 3, kClosed = 4 };

class Grant {
 public:
  Grant(Key key, const Owner& owner, FencingToken token, TimePoint valid_until, Owed news)
      : key_(std::move(key)),
        owner_(new char[owner.text().size() + 1]),
        token_(token),
        valid_until_(valid_until),
        news_(std::move(news)) {
    std::memcpy(owner_.get(), owner.text().c_str(), owner.text().size() + 1);
  }
  ~Grant() { news_.waive(); }
  Grant(const Grant&) = delete;
  Grant& operator=(const Grant&) = delete;

  const Key& key() const { return key_; }
  std::string owner() const { return owner_.get(); }
  // The same as a C string that lives as long as this.
  const char* owner_text() const { return owner_.get(); }
  FencingToken token() const { return token_; }

  // Proven remaining validity at `now`; zero once the grant is given back or lost.
  Duration remaining(TimePoint now) const {
    if (ended_.load(std::memory_order_acquire)) return Duration::zero();
    const TimePoint until = valid_until_.load(std::memory_order_acquire);
    return until > now ? until - now : Duration::zero();
  }
  LossReason loss() const { return loss_.load(std::memory_order_acquire); }

 private:
  friend class Claim;
  friend class Registry;

  const Key key_;
  const std::unique_ptr<char[]> owner_;
  const FencingToken token_;
  std::atomic<TimePoint> valid_until_;
  std::atomic<bool> ended_{false};
  std::atomic<LossReason> loss_{LossReason::kNone};

  // Inside the loop only:
  enum class State { kHeld, kReleasing, kReleased };
  State state_ = State::kHeld;
  bool end_untold_ = false;  // given back since a caller was told that this is not known
  std::weak_ptr<Claim> claim_;
  TimePoint hold_until_ = kNever;  // max_hold
  Owed news_;                      // of its loss
};

}  // namespace lockc

// One grant as its holder sees it. Written inside the loop, read from any thread without a lock.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/types.h"
#include "lock/operation.h"

namespace lockc {

class Claim;

enum class LossReason : int8_t { kNone = 0, kExpired = 1, kTaken = 2, kLimit = 3, kClosed = 4 };

class Grant {
 public:
  // Of what claim holds.
  Grant(Claim& claim, FencingToken token, Owed news);
  ~Grant();
  Grant(const Grant&) = delete;
  Grant& operator=(const Grant&) = delete;

  std::string owner() const;
  // The same as a C string that lives as long as this; made when it is first asked for.
  const char* owner_text() const;
  FencingToken token() const { return token_; }

  // Proven remaining validity at `now`; zero once the grant is given back or lost.
  Duration remaining(TimePoint now) const {
    if (ended_.load(std::memory_order_acquire)) return Duration::zero();
    const TimePoint until = valid_until_.load(std::memory_order_acquire);
    return until > now ? until - now : Duration::zero();
  }
  LossReason loss() const { return loss_.load(std::memory_order_acquire); }
  // Its release has begun, or is over, and nothing is known of a loss.
  bool is_given_back() const {
    return ended_.load(std::memory_order_acquire) && loss() == LossReason::kNone;
  }

 private:
  friend class Claim;
  friend class Registry;
  enum class State : uint8_t { kHeld, kReleasing, kReleased };

  // The answer to its release says that it was lost before.
  void lose_behind() {
    loss_.store(LossReason::kTaken, std::memory_order_release);
    news_.tell(Status::kLost);
  }

  const FencingToken token_;
  std::atomic<TimePoint> valid_until_;
  mutable std::atomic<const char*> owner_text_{nullptr};
  // What the owner value says. Few ask for its text, so it is not kept.
  const std::shared_ptr<const std::string> client_;
  const uint64_t seq_;
  const Ttl ttl_;
  const uint32_t block_;
  std::atomic<bool> ended_{false};
  std::atomic<LossReason> loss_{LossReason::kNone};

  // Inside the loop only:
  State state_ = State::kHeld;
  bool end_untold_ = false;  // given back behind a caller, who may ask once how it ended
  std::weak_ptr<Claim> claim_;
  TimePoint hold_until_ = kNever;  // max_hold
  Owed news_;                      // of its loss; also behind a release that nobody waits for
};

}  // namespace lockc

// A claim that gives its key back: the release, repeated until it is answered or surely over.
#include <algorithm>
#include <utility>

#include "lock/claim.h"
#include "lock/claim_limits.h"
#include "lock/registry.h"
#include "redis/errors.h"

namespace lockc {

bool Claim::let_go(const Grant& grant) {
  std::erase_if(grants_, [&grant](const auto& mine) { return mine.get() == &grant; });
  return grants_.empty();
}

void Claim::close(Owed owed, std::shared_ptr<Grant> released) {
  const TimePoint now = registry_.loop_.now();
  state_ = State::kClosing;
  if (owed) owed_.push_back(std::move(owed));
  if (released) released_ = std::move(released);
  close_by_ = now + std::max(terms_.ttl.millis(), window());
  send_release();
}

void Claim::also_tell(Owed owed) { owed_.push_back(std::move(owed)); }

void Claim::send_release() {
  timer_.cancel();
  if (++sends_ == 1) closed_valid_ = valid_until_ > registry_.loop_.now();
  auto then = [self = shared_from_this()](const Result<bool>& ours) { self->on_released(ours); };
  if (refusals_ >= kRefusalsUntilDrop) {
    registry_.store_.drop(named(), std::move(then));
  } else {
    registry_.store_.release(named(), std::move(then));
  }
}

void Claim::on_released(const Result<bool>& ours) {
  const auto self = shared_from_this();
  if (ours) {
    // Only the first release, sent while the lease was proven, can show that it was lost before.
    const bool lost = !*ours && sends_ == 1 && closed_valid_;
    if (lost && released_ != nullptr) released_->loss_ = LossReason::kTaken;
    tell_released(Error{lost ? Status::kLost : Status::kOk, {}}, true);
    return finish();
  }
  const Error& error = ours.error();
  if (is_noscript(error) && ++noscripts_ <= kMaxNoscripts) {
    --sends_;  // certainly not executed
    return send_release();
  }
  const bool refused = error.status != Status::kUncertain && error.status != Status::kUnreachable;
  if (refused) ++refusals_;
  const bool hopeless = !may_pass(error.status) && refusals_ > 2 * kRefusalsUntilDrop;
  if (error.status == Status::kUnreachable || refused) --sends_;
  tell_released(error, false);
  const TimePoint now = registry_.loop_.now();
  if (now >= close_by_ || hopeless || registry_.closed_) return finish();
  timer_.arm(now + registry_.loop_.random().between(kRetryLow, kRetryHigh));
}

void Claim::tell_released(const Error& outcome, bool final) {
  auto owed = std::exchange(owed_, {});
  const bool told = !owed.empty();
  if (!final && told) told_unknown_ = true;
  if (released_ != nullptr && final) {
    released_->state_ = Grant::State::kReleased;
    released_->end_untold_ = told_unknown_ && !told;
  }
  for (Owed& one : owed) one.tell(about(key_, outcome));
}

void Claim::finish() {
  if (state_ == State::kDone) return;
  const auto self = shared_from_this();
  state_ = State::kDone;
  timer_.cancel();
  tell_released(Error{Status::kOk, {}}, true);
  registry_.on_done(*this);
}

}  // namespace lockc

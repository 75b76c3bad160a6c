// A claim that gives its key back: the release, repeated until it is answered or surely over.
#include <algorithm>
#include <utility>

#include "lock/claim.h"
#include "lock/claim_limits.h"
#include "lock/registry.h"
#include "redis/errors.h"

namespace lockc {

bool Claim::let_go(const Grant& grant) {
  grants_.remove_if([&grant](const auto& mine) { return mine.get() == &grant; });
  return grants_.empty();
}

void Claim::begin_closing() {
  state_ = State::kClosing;
  asking_.reset();
  if (closing_ == nullptr) closing_ = std::make_unique<Closing>();
}

void Claim::close(Owed owed, std::shared_ptr<Grant> released) {
  const TimePoint now = registry_.loop_.now();
  begin_closing();
  if (!owed) registry_.left_.insert_or_assign(key_.text(), this);
  also_tell(std::move(owed));
  if (released) closing_->released = std::move(released);
  closing_->close_by = now + std::max(terms_.ttl.millis(), window());
  send_release();
}

void Claim::close_at_once() {
  if (state_ == State::kClosing && timer_.armed()) send_release();
}

void Claim::also_tell(Owed owed) {
  if (owed) closing_->owed.push_back(std::move(owed));
}

void Claim::send_release() {
  timer_.cancel();
  if (++closing_->sends == 1) closing_->closed_valid = valid_until_ > registry_.loop_.now();
  auto then = [self = shared_from_this()](const Result<bool>& ours) { self->on_released(ours); };
  if (closing_->refusals >= kRefusalsUntilDrop) {
    registry_.store_.drop(named(), std::move(then));
  } else {
    registry_.store_.release(named(), std::move(then));
  }
}

void Claim::on_released(const Result<bool>& ours) {
  const auto self = shared_from_this();
  if (ours) {
    // Only the first release, sent while the lease was proven, can show that it was lost before.
    const bool lost = !*ours && closing_->sends == 1 && closing_->closed_valid;
    if (lost && closing_->released != nullptr) closing_->released->lose_behind();
    tell_released(Error{lost ? Status::kLost : Status::kOk, {}}, true);
    return finish();
  }
  const Error& error = ours.error();
  if (is_noscript(error) && ++closing_->noscripts <= kMaxNoscripts) {
    --closing_->sends;  // certainly not executed
    return send_release();
  }
  const bool refused = error.status != Status::kUncertain && error.status != Status::kUnreachable;
  if (refused) ++closing_->refusals;
  const bool hopeless = !may_pass(error.status) && closing_->refusals > 2 * kRefusalsUntilDrop;
  if (error.status == Status::kUnreachable || refused) --closing_->sends;
  tell_released(error, false);
  const TimePoint now = registry_.loop_.now();
  if (now >= closing_->close_by || hopeless || registry_.closed_) return finish();
  timer_.arm(now + registry_.loop_.random().between(kRetryLow, kRetryHigh));
}

void Claim::tell_released(const Error& outcome, bool final) {
  if (closing_ == nullptr) return;  // nothing was sent, so nobody was promised an answer
  auto owed = std::exchange(closing_->owed, {});
  const bool told = !owed.empty();
  if (!final && told) closing_->told_unknown = true;
  if (closing_->released != nullptr && final) {
    closing_->released->state_ = Grant::State::kReleased;
    bool& untold = closing_->released->end_untold_;
    untold = (untold || closing_->told_unknown) && !told;
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

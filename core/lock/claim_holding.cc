// A claim that is held: proof of the lease, renewal, grants, loss.
#include <algorithm>
#include <utility>

#include "lock/claim.h"
#include "lock/claim_limits.h"
#include "lock/registry.h"

namespace lockc {

bool Claim::valid() const { return state_ == State::kHeld && valid_until_ > registry_.loop_.now(); }

void Claim::hold(uint64_t first, uint32_t count, TimePoint valid_until) {
  const auto self = shared_from_this();
  state_ = State::kHeld;
  watch_key(false);
  queued_ = maybe_executed_ = false;
  asking_.reset();
  // Nothing under way: what follows may go over any connection.
  if (route_ != nullptr && route_->unanswered == 0 && route_->unfinished.empty()) route_.reset();
  timer_.cancel();
  next_token_ = first;
  left_ = std::clamp(count, uint32_t{1}, registry_.settings_.handover_max);
  granted_at_ = registry_.loop_.now();
  valid_until_ = valid_until;
  renew_at_ = registry_.watchdog_.next(valid_until - terms_.ttl.proven(), terms_.ttl);
  registry_.on_granted(*this);
  if (state_ == State::kHeld) schedule_lease();
}

std::shared_ptr<Grant> Claim::issue(const AcquireRequest& request) {
  const FencingToken token{terms_.block == 0 ? 0 : next_token_};
  ++next_token_;
  --left_;
  auto grant = std::make_shared<Grant>(
      *this, token, Owed(request.events, Completion::Kind::kLost, request.events_tag));
  if (request.max_hold > Millis::zero()) {
    grant->hold_until_ = after(registry_.loop_.now(), request.max_hold);
  }
  grants_.push_front(grant);
  return grant;
}

std::shared_ptr<Grant> Claim::issue_again(const AcquireRequest& request) {
  const TimePoint hold_until = grants_.front()->hold_until_;
  --next_token_;  // the same token: it is the same grant
  ++left_;
  auto grant = issue(request);
  grant->hold_until_ = hold_until;
  return grant;
}

bool Claim::may_hand_over() const {
  const TimePoint now = registry_.loop_.now();
  return state_ == State::kHeld && terms_.renew && left_ > 0 &&
         now - granted_at_ <= Duration(registry_.settings_.handover_time) &&
         valid_until_ - now > Duration(terms_.ttl.millis()) / 3;
}

void Claim::prove(TimePoint until) {
  if (until <= valid_until_) return;
  valid_until_ = until;
  for (const auto& grant : grants_) grant->valid_until_.store(until, std::memory_order_release);
}

bool Claim::wants_renewal() const {
  if (!terms_.renew) return false;
  const TimePoint now = registry_.loop_.now();
  return std::ranges::any_of(grants_, [now](auto& grant) { return now < grant->hold_until_; });
}

void Claim::schedule_lease() {
  timer_.arm(wants_renewal() ? std::min(valid_until_, renew_at_) : valid_until_);
}

void Claim::check_lease() {
  if (state_ != State::kHeld) return;
  const TimePoint now = registry_.loop_.now();
  if (now >= valid_until_) {
    const bool limit =
        std::ranges::any_of(grants_, [now](auto& g) { return g->hold_until_ <= now; });
    return lose(terms_.renew && limit ? LossReason::kLimit : LossReason::kExpired);
  }
  if (wants_renewal() && now >= renew_at_) renew_now();
  schedule_lease();
}

void Claim::renew_now() {
  renew_at_ = kNever;
  registry_.watchdog_.renew(shared_from_this(), terms_.ttl,
                            [self = shared_from_this()](TimePoint sent, const Result<bool>& ours) {
                              self->on_renewed(sent, ours);
                            });
}

void Claim::on_renewed(TimePoint sent, const Result<bool>& ours) {
  if (state_ != State::kHeld) return;
  const TimePoint now = registry_.loop_.now();
  if (!ours) {
    const Millis tenth = std::max(terms_.ttl.millis() / 10, Millis(1));
    const Millis high = std::min(kRetryHigh, tenth);
    renew_at_ = now + registry_.loop_.random().between(high / 2, high);
  } else if (!*ours) {
    return lose(LossReason::kTaken);
  } else {
    prove(sent + terms_.ttl.proven());
    renew_at_ = registry_.watchdog_.next(sent, terms_.ttl);
  }
  check_lease();
}

// Asks at once whether the lease still stands. One that is not to be renewed is asked for no more
// than what it has left.
void Claim::on_reconnected() {
  if (state_ != State::kHeld) return;
  if (wants_renewal()) return renew_now();
  const Duration left = valid_until_ - registry_.loop_.now();
  const auto ttl = Ttl::make(std::max(std::chrono::floor<Millis>(left), Ttl::kMin).count());
  registry_.watchdog_.renew(shared_from_this(), *ttl,
                            [self = shared_from_this()](TimePoint, const Result<bool>& ours) {
                              if (ours && !*ours) self->lose(LossReason::kTaken);
                            });
}

void Claim::extend(const std::shared_ptr<Grant>& grant, Ttl ttl, Owed owed) {
  auto then = [self = shared_from_this(), grant, ttl,
               owed = std::make_shared<Owed>(std::move(owed))](TimePoint sent,
                                                               const Result<bool>& ours) {
    if (grant->loss() != LossReason::kNone) return owed->tell(Status::kLost);
    if (grant->state_ != Grant::State::kHeld) return owed->tell(Status::kNotHeld);
    if (!ours) return owed->tell(about(self->key_, ours.error()));
    if (!*ours) {
      self->lose(LossReason::kTaken);
      return owed->tell(Status::kLost);
    }
    self->prove(sent + ttl.proven());
    self->schedule_lease();
    owed->tell(Status::kOk);
  };
  registry_.watchdog_.renew(shared_from_this(), ttl, std::move(then));
}

void Claim::lose(LossReason reason) {
  if (state_ != State::kHeld) return;
  const auto self = shared_from_this();
  state_ = State::kLost;
  timer_.cancel();
  if (reason == LossReason::kTaken) valid_until_ = TimePoint();
  tell_lost(reason);
  registry_.on_lost(*this);
}

void Claim::tell_lost(LossReason reason) {
  for (const auto& grant : grants_) {
    grant->loss_.store(reason, std::memory_order_release);
    grant->ended_.store(true, std::memory_order_release);
    grant->news_.tell(Status::kLost);
  }
}

void Claim::abandon() noexcept {
  if (state_ == State::kHeld) tell_lost(LossReason::kExpired);
  state_ = State::kDone;
  timer_.cancel();
  seat = nullptr;
  entry = nullptr;
}

}  // namespace lockc

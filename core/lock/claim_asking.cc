// A claim that asks: acquires, polls, wake messages, trouble, and giving up.
#include <algorithm>
#include <utility>

#include "lock/claim.h"
#include "lock/claim_limits.h"
#include "lock/registry.h"
#include "redis/errors.h"

namespace lockc {

bool Claim::wants_queue() const {
  return seat->request.wait != Millis::zero() && !seat->request.spin;
}

Millis Claim::poll_bound() const { return std::min(terms_.ttl.millis() / 3, kPollBound); }

// How long a queue entry counts as alive without a poll (protocol, "How every script is built", 6).
Millis Claim::window() const {
  return std::max(Millis(3'000), std::min(terms_.ttl.millis(), Millis(30'000)));
}

void Claim::ask() {
  if (in_flight_) {
    asking_->ask_again = true;
    return;
  }
  timer_.cancel();
  in_flight_ = true;
  asking_->ask_again = false;
  ++asking_->tries;
  const bool queue = wants_queue() && registry_.wake_.is_confirmed();
  const TimePoint sent = registry_.loop_.now();
  if (queued_) registry_.wake_.ping();
  if (terms_.block == 0 && asking_->tries == 1) return ask_plainly(sent);
  const bool ticket_counts = sent - asking_->ticket_sent < Duration(terms_.ttl.millis());
  registry_.store_.acquire(
      named(), queue, ticket_counts ? asking_->ticket : "0",
      [self = shared_from_this(), sent](const auto& answer) { self->on_answer(sent, answer); });
}

// An unfenced lock that nobody has costs one plain SET; the script is for when somebody has it.
void Claim::ask_plainly(TimePoint sent) {
  registry_.store_.set(named(), terms_.ttl,
                       [self = shared_from_this(), sent](const Result<bool>& granted) {
                         if (!granted) return self->on_answer(sent, granted.error());
                         AcquireAnswer answer;
                         answer.kind = AcquireAnswer::Kind::kGranted;
                         if (*granted) return self->on_answer(sent, answer);
                         self->in_flight_ = false;
                         if (self->state_ == State::kAsking) self->ask();
                       });
}

void Claim::ask_by_requeue(Claim& previous, Owed owed, std::shared_ptr<Grant> released) {
  in_flight_ = true;
  ++asking_->tries;
  const TimePoint sent = registry_.loop_.now();
  auto then = [self = shared_from_this(), old = previous.shared_from_this(),
               owed = std::make_shared<Owed>(std::move(owed)), released = std::move(released),
               sent](const Result<RequeueAnswer>& answer) mutable {
    if (answer) {
      old->also_tell(std::move(*owed));
      old->closing_->released = std::move(released);
      old->on_released(answer->ours);
      self->on_answer(sent, answer->next);
    } else {
      // Not executed, or not known: both values go on by themselves.
      if (answer.error().status != Status::kUncertain) old->closing_->sends = 0;
      old->close(std::move(*owed), std::move(released));
      self->on_answer(sent, answer.error());
    }
  };
  previous.begin_closing();
  previous.closing_->closed_valid = previous.valid_until_ > sent;
  previous.closing_->sends = 1;
  previous.timer_.cancel();
  registry_.store_.requeue(previous.named(), named(), std::move(then));
}

void Claim::on_answer(TimePoint sent, const Result<AcquireAnswer>& answer) {
  in_flight_ = false;
  if (!answer && may_have_begun(answer.error())) maybe_executed_ = true;
  // A grant by message came first, or V is dead and a release stands behind this: ignored.
  if (state_ != State::kAsking) return;
  if (!answer) return on_trouble(answer.error());
  asking_->trouble.reset();
  asking_->answered = registry_.loop_.now();
  switch (answer->kind) {
    case AcquireAnswer::Kind::kGranted: {
      const TimePoint valid_until = sent + terms_.ttl.proven();
      if (registry_.loop_.now() < valid_until) {
        return hold(answer->first, answer->count, valid_until);
      }
      // Too late to be of use. Who waits asks for a new lease; one try is one try.
      if (seat->request.wait != Millis::zero()) return ask();
      maybe_executed_ = true;
      const auto self = shared_from_this();
      return registry_.on_refused(
          *this, Error{Status::kUncertain, "the answer took longer than the lease it granted"});
    }
    case AcquireAnswer::Kind::kQueued:
      return on_queued(sent, *answer);
    case AcquireAnswer::Kind::kBusy:
      return on_busy(*answer);
  }
}

void Claim::on_queued(TimePoint sent, const AcquireAnswer& answer) {
  queued_ = true;
  if (seat->request.wait == Millis::zero()) {
    const auto self = shared_from_this();
    return registry_.on_refused(*this,
                                Error{Status::kServer, "the server queued what was one try"});
  }
  asking_->ticket = answer.ticket;
  asking_->ticket_sent = sent;
  asking_->mark = answer.mark;
  asking_->marked = sent;
  const auto early = std::exchange(asking_->early, std::nullopt);
  if (early && hold_by_message(early->first, early->second)) return;
  watch_key(!answer.lockc || answer.pttl_ms < 0);
  if (asking_->ask_again) return ask();
  Random& random = registry_.loop_.random();
  const auto position = static_cast<int64_t>(std::min<uint64_t>(answer.position, 1'000'000));
  Millis wait = poll_bound();
  if (!answer.lockc || answer.pttl_ms < 0 || !registry_.is_told_) {
    // Nobody tells when this holder goes.
    wait = std::min(wait, asking_->backoff.next(random) * (position + 1));
  } else if (Millis(answer.pttl_ms) < wait) {
    wait = std::min(wait, Millis(answer.pttl_ms) + kPositionStep * position +
                              random.between(Millis(1), kPositionStep));
  }
  timer_.arm(registry_.loop_.now() + wait);
}

void Claim::on_busy(const AcquireAnswer&) {
  const auto self = shared_from_this();
  const AcquireRequest& request = seat->request;
  const bool tries_over =
      request.spin && request.max_tries != 0 && asking_->tries >= request.max_tries;
  if (request.wait == Millis::zero() || tries_over) {
    return registry_.on_refused(*this, Error{Status::kBusy, {}});
  }
  if (wants_queue()) {
    registry_.wake_.want();
    if (registry_.wake_.is_confirmed()) return ask();
  }
  // A spinning waiter, or one that cannot be told of a grant (yet).
  timer_.arm(registry_.loop_.now() + asking_->backoff.next(registry_.loop_.random()));
}

void Claim::on_trouble(const Error& error) {
  const auto self = shared_from_this();
  if (is_noscript(error) && ++asking_->noscripts <= kMaxNoscripts) return ask();
  const TimePoint now = registry_.loop_.now();
  const bool for_ever = seat->request.wait < Millis::zero();
  const bool silent =
      for_ever && !queued_ && now - asking_->answered.value_or(asking_->began) >= kSilence;
  if (seat->request.wait == Millis::zero() || !may_pass(error.status) || silent) {
    return registry_.on_refused(*this, error);
  }
  asking_->trouble = error;
  timer_.arm(now + registry_.loop_.random().between(kRetryLow, kRetryHigh));
}

Error Claim::why_not() {
  if (asking_->trouble) return *asking_->trouble;
  if (asking_->answered || !in_flight_) return {Status::kTimeout, {}};
  if (registry_.store_.withdraw(named())) {
    in_flight_ = false;
    return {Status::kUnreachable, "no connection to the server within the wait"};
  }
  return {Status::kUncertain, "no answer from the server within the wait"};
}

void Claim::on_message(uint64_t first, uint32_t count) {
  if (state_ != State::kAsking) return;  // held already, or its release is under way
  if (first == 0) return ask();          // a hint
  if (hold_by_message(first, count)) return;
  if (in_flight_) asking_->early = {first, count};
}

// A message proves the grant only if it was made after the last answered poll, whose mark is then
// smaller; one made before is old, and K may be another's by now (protocol, client rule 4).
bool Claim::hold_by_message(uint64_t first, uint32_t count) {
  if (!asking_->mark || first <= *asking_->mark) return false;
  const TimePoint now = registry_.loop_.now();
  const TimePoint valid_until = asking_->marked + terms_.ttl.proven();
  if (now >= valid_until) {
    ask();
    return true;
  }
  asking_->answered = now;
  hold(first, count, valid_until);
  const bool short_proof = valid_until - now < Duration(terms_.ttl.millis()) * 2 / 3;
  if (state_ == State::kHeld && (!terms_.renew || short_proof)) renew_now();
  return true;
}

void Claim::on_channel_confirmed() {
  if (state_ == State::kAsking && wants_queue()) ask();
}

void Claim::on_key_gone() {
  if (state_ == State::kAsking && asking_->watches) ask();
}

void Claim::watch_key(bool watch) {
  if (asking_ == nullptr || asking_->watches == watch) return;
  asking_->watches = watch;
  if (watch) {
    registry_.wake_.watch(key_.text());
  } else {
    registry_.wake_.unwatch(key_.text());
  }
}

void Claim::on_channel_lost() {
  if (state_ != State::kAsking || !wants_queue()) return;
  asking_->mark.reset();
  asking_->early.reset();
  asking_->watches = false;  // the channel has forgotten
  registry_.wake_.want();
}

void Claim::resume() {
  asking_->began = registry_.loop_.now();
  asking_->tries = 0;
  asking_->answered.reset();
  asking_->trouble.reset();
  if (!in_flight_ && !timer_.armed()) ask();
}

void Claim::give_up() {
  watch_key(false);
  if (in_flight_ && registry_.store_.withdraw(named())) in_flight_ = false;
  if (in_flight_ || queued_ || maybe_executed_ || !grants_.empty() || valid_until_ > TimePoint()) {
    close(Owed(), nullptr);
  } else {
    finish();
  }
}

}  // namespace lockc

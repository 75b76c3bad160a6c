#include "lock/claim.h"

#include <algorithm>
#include <utility>

#include "lock/registry.h"
#include "redis/errors.h"

namespace lockc {
namespace {

constexpr Millis kRetryLow{50};  // at most 20 tries a second against a server in trouble
constexpr Millis kRetryHigh{100};
constexpr Millis kPollBound{5'000};
constexpr Millis kPositionStep{20};               // keeps waiters from polling in step
constexpr Duration kSilence = std::chrono::seconds(30);  // a wait for ever ends without any answer
constexpr uint32_t kRefusalsUntilDrop = 3;
constexpr uint32_t kMaxNoscripts = 3;

}  // namespace

Claim::Claim(Registry& registry, uint64_t seq, Key key, const Terms& terms)
    : registry_(registry),
      seq_(seq),
      key_(std::move(key)),
      keys_(key_),
      terms_(terms),
      owner_(registry.settings_.client, seq, terms.ttl, terms.block),
      route_(std::make_shared<Route>()),
      timer_(registry.loop_.timers(), [this] { on_timer(); }),
      began_(registry.loop_.now()),
      backoff_(registry.settings_.spin_min, registry.settings_.spin_max) {}

void Claim::on_timer() {
  const auto self = shared_from_this();
  switch (state_) {
    case State::kAsking: return ask();
    case State::kHeld: return check_lease();
    case State::kClosing: return send_release();
    case State::kLost:
    case State::kDone: return;
  }
}

// ---- asking

bool Claim::wants_queue() const { return seat->request.wait != Millis::zero() && !seat->request.spin; }

Millis Claim::poll_bound() const { return std::min(terms_.ttl.millis() / 3, kPollBound); }

// How long a queue entry counts as alive without a poll (protocol, "How every script is built", 6).
Millis Claim::window() const {
  return std::max(Millis(3'000), std::min(terms_.ttl.millis(), Millis(30'000)));
}

void Claim::ask() {
  if (in_flight_) {
    ask_again_ = true;
    return;
  }
  timer_.cancel();
  in_flight_ = true;
  ask_again_ = false;
  ++tries_;
  const bool queue = wants_queue() && registry_.wake_.is_confirmed();
  const TimePoint sent = registry_.loop_.now();
  if (queued_) registry_.wake_.ping();
  if (terms_.block == 0 && tries_ == 1) return ask_plainly(sent);
  const bool ticket_counts = sent - ticket_sent_ < Duration(terms_.ttl.millis());
  registry_.store_.acquire(
      named(), queue, ticket_counts ? ticket_ : "0",
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
  ++tries_;
  const TimePoint sent = registry_.loop_.now();
  auto then = [self = shared_from_this(), old = previous.shared_from_this(), owed = std::move(owed),
               released = std::move(released), sent](const Result<RequeueAnswer>& answer) mutable {
    if (answer) {
      old->owed_.push_back(std::move(owed));
      old->on_released(answer->ours);
      self->on_answer(sent, answer->next);
    } else {
      // Not executed, or not known: both values go on by themselves.
      if (answer.error().status != Status::kUncertain) old->sends_ = 0;
      old->close(std::move(owed), std::move(released));
      self->on_answer(sent, answer.error());
    }
  };
  previous.state_ = State::kClosing;
  previous.closed_valid_ = previous.valid_until_ > sent;
  previous.sends_ = 1;
  previous.timer_.cancel();
  registry_.store_.requeue(previous.named(), named(), std::move(then));
}

void Claim::on_answer(TimePoint sent, const Result<AcquireAnswer>& answer) {
  in_flight_ = false;
  if (!answer && answer.error().status == Status::kUncertain) maybe_executed_ = true;
  // A grant by message came first, or V is dead and a release stands behind this: ignored.
  if (state_ != State::kAsking) return;
  if (!answer) return on_trouble(answer.error());
  trouble_.reset();
  answered_ = registry_.loop_.now();
  switch (answer->kind) {
    case AcquireAnswer::Kind::kGranted: {
      const TimePoint valid_until = sent + terms_.ttl.proven();
      if (registry_.loop_.now() >= valid_until) return ask();  // too late to be of use: a new lease
      return hold(answer->first, answer->count, valid_until);
    }
    case AcquireAnswer::Kind::kQueued: return on_queued(sent, *answer);
    case AcquireAnswer::Kind::kBusy: return on_busy(*answer);
  }
}

void Claim::on_queued(TimePoint sent, const AcquireAnswer& answer) {
  queued_ = true;
  ticket_ = answer.ticket;
  ticket_sent_ = sent;
  mark_ = answer.mark;
  marked_ = sent;
  const auto early = std::exchange(early_, std::nullopt);
  if (early && hold_by_message(early->first, early->second)) return;
  if (ask_again_) return ask();
  Random& random = registry_.loop_.random();
  const auto position = static_cast<int64_t>(std::min<uint64_t>(answer.position, 1'000'000));
  Millis wait = poll_bound();
  if (!answer.lockc || answer.pttl_ms < 0 || !registry_.is_told_) {
    // Nobody tells when this holder goes.
    wait = std::min(wait, backoff_.next(random) * (position + 1));
  } else if (Millis(answer.pttl_ms) < wait) {
    wait = std::min(wait, Millis(answer.pttl_ms) + kPositionStep * position +
                              random.between(Millis(1), kPositionStep));
  }
  timer_.arm(registry_.loop_.now() + wait);
}

void Claim::on_busy(const AcquireAnswer&) {
  const auto self = shared_from_this();
  const AcquireRequest& request = seat->request;
  const bool tries_over = request.spin && request.max_tries != 0 && tries_ >= request.max_tries;
  if (request.wait == Millis::zero() || tries_over) {
    return registry_.on_refused(*this, Error{Status::kBusy, {}});
  }
  if (wants_queue()) {
    registry_.wake_.want();
    if (registry_.wake_.is_confirmed()) return ask();
  }
  // A spinning waiter, or one that cannot be told of a grant (yet).
  timer_.arm(registry_.loop_.now() + backoff_.next(registry_.loop_.random()));
}

void Claim::on_trouble(const Error& error) {
  const auto self = shared_from_this();
  if (is_noscript(error) && ++noscripts_ <= kMaxNoscripts) return ask();
  const TimePoint now = registry_.loop_.now();
  const bool for_ever = seat->request.wait < Millis::zero();
  const bool silent = for_ever && !queued_ && now - answered_.value_or(began_) >= kSilence;
  if (seat->request.wait == Millis::zero() || !may_pass(error.status) || silent) {
    return registry_.on_refused(*this, error);
  }
  trouble_ = error;
  timer_.arm(now + registry_.loop_.random().between(kRetryLow, kRetryHigh));
}

Error Claim::why_not() {
  if (trouble_) return *trouble_;
  if (answered_ || !in_flight_) return {Status::kTimeout, {}};
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
  if (in_flight_) early_ = {first, count};
}

// A message proves the grant only if it was made after the last answered poll, whose mark is then
// smaller; one made before is old, and K may be another's by now (protocol, client rule 4).
bool Claim::hold_by_message(uint64_t first, uint32_t count) {
  if (!mark_ || first <= *mark_) return false;
  const TimePoint now = registry_.loop_.now();
  const TimePoint valid_until = marked_ + terms_.ttl.proven();
  if (now >= valid_until) {
    ask();
    return true;
  }
  answered_ = now;
  hold(first, count, valid_until);
  const bool short_proof = valid_until - now < Duration(terms_.ttl.millis()) * 2 / 3;
  if (state_ == State::kHeld && (!terms_.renew || short_proof)) renew_now();
  return true;
}

void Claim::on_channel_confirmed() {
  if (state_ == State::kAsking && wants_queue()) ask();
}

void Claim::on_channel_lost() {
  if (state_ != State::kAsking || !wants_queue()) return;
  mark_.reset();
  early_.reset();
  registry_.wake_.want();
}

void Claim::resume() {
  began_ = registry_.loop_.now();
  tries_ = 0;
  if (!in_flight_ && !timer_.armed()) ask();
}

void Claim::give_up() {
  if (in_flight_ && registry_.store_.withdraw(named())) in_flight_ = false;
  if (in_flight_ || queued_ || maybe_executed_ || !grants_.empty() || valid_until_ > TimePoint()) {
    close(Owed(), nullptr);
  } else {
    finish();
  }
}

// ---- held

bool Claim::valid() const {
  return state_ == State::kHeld && valid_until_ > registry_.loop_.now();
}

void Claim::hold(uint64_t first, uint32_t count, TimePoint valid_until) {
  const auto self = shared_from_this();
  state_ = State::kHeld;
  queued_ = maybe_executed_ = false;
  timer_.cancel();
  first_ = first;
  count_ = count;
  used_ = 0;
  granted_at_ = registry_.loop_.now();
  valid_until_ = valid_until;
  renew_at_ = registry_.watchdog_.next(valid_until - terms_.ttl.proven(), terms_.ttl);
  registry_.on_granted(*this);
  if (state_ == State::kHeld) schedule_lease();
}

std::shared_ptr<Grant> Claim::issue(const AcquireRequest& request) {
  const FencingToken token{terms_.block == 0 ? 0 : first_ + used_};
  ++used_;
  auto grant = std::make_shared<Grant>(key_, owner_.text(), token, valid_until_);
  grant->claim_ = weak_from_this();
  grant->events_ = request.events;
  grant->events_tag_ = request.events_tag;
  if (request.max_hold > Millis::zero()) {
    grant->hold_until_ = after(registry_.loop_.now(), request.max_hold);
  }
  grants_.push_back(grant);
  return grant;
}

std::shared_ptr<Grant> Claim::issue_again(const AcquireRequest& request) {
  --used_;  // the same token: it is the same grant
  auto grant = issue(request);
  grant->hold_until_ = grants_.front()->hold_until_;
  return grant;
}

bool Claim::may_hand_over() const {
  const TimePoint now = registry_.loop_.now();
  return state_ == State::kHeld && terms_.renew && used_ < count_ &&
         used_ < registry_.settings_.handover_max &&
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
    const bool limit = std::ranges::any_of(grants_, [now](auto& g) { return g->hold_until_ <= now; });
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
    const bool again = is_noscript(ours.error());
    const Millis tenth = std::max(terms_.ttl.millis() / 10, Millis(1));
    const Millis high = std::min(kRetryHigh, tenth);
    renew_at_ = again ? now : now + registry_.loop_.random().between(high / 2, high);
  } else if (!*ours) {
    return lose(LossReason::kTaken);
  } else {
    prove(sent + terms_.ttl.proven());
    renew_at_ = registry_.watchdog_.next(sent, terms_.ttl);
  }
  check_lease();
}

void Claim::on_reconnected() {
  if (state_ == State::kHeld) renew_now();
}

void Claim::extend(const std::shared_ptr<Grant>& grant, Ttl ttl, Owed owed) {
  registry_.watchdog_.renew(
      shared_from_this(), ttl,
      [self = shared_from_this(), grant, ttl, owed = std::move(owed)](
          TimePoint sent, const Result<bool>& ours) mutable {
        if (grant->loss() != LossReason::kNone) return owed.tell(Status::kLost);
        if (grant->state_ != Grant::State::kHeld) return owed.tell(Status::kNotHeld);
        if (!ours && is_noscript(ours.error())) return self->extend(grant, ttl, std::move(owed));
        if (!ours) return owed.tell(ours.error());
        if (!*ours) {
          self->lose(LossReason::kTaken);
          return owed.tell(Status::kLost);
        }
        self->prove(sent + ttl.proven());
        self->schedule_lease();
        owed.tell(Status::kOk);
      });
}

void Claim::lose(LossReason reason) {
  if (state_ != State::kHeld) return;
  const auto self = shared_from_this();
  state_ = State::kLost;
  timer_.cancel();
  if (reason == LossReason::kTaken) valid_until_ = TimePoint();
  for (const auto& grant : grants_) {
    grant->loss_.store(reason, std::memory_order_release);
    grant->ended_.store(true, std::memory_order_release);
    if (grant->events_ != nullptr) {
      Completion news;
      news.tag = grant->events_tag_;
      news.kind = Completion::Kind::kLost;
      news.outcome.status = Status::kLost;
      grant->events_->complete(std::move(news));
    }
  }
  registry_.on_lost(*this);
}

// ---- giving back

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
  if (error.status == Status::kUnreachable || refused) --sends_;
  tell_released(error, false);
  const TimePoint now = registry_.loop_.now();
  if (now >= close_by_ || registry_.closed_) return finish();
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
  for (Owed& one : owed) one.tell(outcome);
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

#include "lock/registry.h"

#include <algorithm>
#include <utility>

namespace lockc {

Waiter::Waiter(AcquireRequest r, Owed o, Registry& of)
    : request(std::move(r)),
      owed(std::move(o)),
      began(of.loop_.now()),
      registry(of),
      deadline(of.loop_.timers(), [this] { registry.on_deadline(*this); }) {}

Registry::Registry(Loop& loop, Store& store, WakeChannel& wake, Watchdog& watchdog, const Log& log,
                   Settings settings)
    : loop_(loop),
      store_(store),
      wake_(wake),
      watchdog_(watchdog),
      log_(log),
      settings_(std::move(settings)) {}

Registry::~Registry() = default;

// ---- asking

std::shared_ptr<Waiter> Registry::acquire(AcquireRequest request, Owed owed) {
  if (closed_) {
    owed.tell(Error{Status::kClosed, "the client is closed"});
    return nullptr;
  }
  if (request.owner != 0 && enter_again(request, owed)) return nullptr;
  const bool waits = request.wait != Millis::zero();
  if (waits && settings_.max_waiters != 0 && waiters_ >= settings_.max_waiters) {
    owed.tell(Error{Status::kLimit, "max_waiters = " + std::to_string(settings_.max_waiters) +
                                        " operations wait already"});
    return nullptr;
  }
  auto waiter = std::make_shared<Waiter>(std::move(request), std::move(owed), *this);
  if (waits) {
    ++waiters_;
    waiter->counted = true;
    if (waiter->request.wait > Millis::zero()) {
      waiter->deadline.arm(after(loop_.now(), waiter->request.wait));
    }
  }
  if (waiter->request.fair || waiter->request.spin) {
    make_claim(waiter, nullptr)->ask();
    return waiter;
  }
  Entry& entry = entries_[waiter->request.key.text()];
  if (entry.claim == nullptr) {
    make_claim(waiter, &entry)->ask();
  } else if (waits) {
    waiter->entry = &entry;
    waiter->place = entry.waiting.insert(entry.waiting.end(), waiter);
  } else if (entry.claim->valid()) {
    answer(*waiter, Error{Status::kBusy, {}});
  } else {
    make_claim(waiter, nullptr)->ask();
  }
  return waiter;
}

// A holder that comes again by its owner number gets a second handle of its grant, without a
// command.
bool Registry::enter_again(const AcquireRequest& request, Owed& owed) {
  const auto found = reentrant_.find({request.key.text(), request.owner});
  const auto claim = found == reentrant_.end() ? nullptr : found->second.lock();
  if (claim == nullptr) return false;
  if (claim->valid()) {
    owed.tell(Error{Status::kOk, {}}, claim->issue_again(request));
    return true;
  }
  if (claim->state() != Claim::State::kLost && claim->state() != Claim::State::kHeld) return false;
  owed.tell(Status::kLost);
  return true;
}

Claim::Terms Registry::terms_of(const AcquireRequest& request) const {
  uint32_t block = settings_.handover_max;
  if (request.fair || request.spin || !request.renew) block = 1;
  if (!request.fenced) block = 0;
  return {request.ttl, block, request.renew};
}

std::shared_ptr<Claim> Registry::make_claim(const std::shared_ptr<Waiter>& waiter, Entry* entry) {
  const uint64_t seq = next_seq_++;
  auto claim = std::make_shared<Claim>(*this, seq, waiter->request.key, terms_of(waiter->request));
  const auto left = left_.find(claim->key().text());
  if (left != left_.end()) claim->follow(*left->second);
  claim->seat = waiter;
  claim->entry = entry;
  waiter->claim = claim;
  if (entry != nullptr) {
    entry->claim = claim;
  } else {
    others_.emplace(seq, claim);
  }
  return claim;
}

std::shared_ptr<Waiter> Registry::take_first(Entry& entry) {
  auto waiter = entry.waiting.front();
  entry.waiting.pop_front();
  waiter->entry = nullptr;
  return waiter;
}

// The waiter leaves the line last: abandon() finds it there until it sits in the claim.
std::shared_ptr<Claim> Registry::claim_for_first(Entry& entry) {
  auto claim = make_claim(entry.waiting.front(), &entry);
  take_first(entry);
  return claim;
}

void Registry::seat_next(const Key& key, Entry& entry) {
  if (entry.claim != nullptr) return;
  if (entry.waiting.empty()) return forget_if_unused(key);
  claim_for_first(entry)->ask();
}

void Registry::forget_if_unused(const Key& key) {
  const auto found = entries_.find(key.text());
  if (found == entries_.end()) return;
  const Entry& entry = found->second;
  if (entry.claim == nullptr && entry.waiting.empty()) entries_.erase(found);
}

// Entry and claim part ways: the claim goes on alone, the entry may get another one. The entry lets
// go last: abandon() finds the claim there until it is among the others.
void Registry::detach(Claim& claim) {
  if (claim.entry == nullptr) return;
  others_.emplace(claim.seq(), claim.entry->claim);
  std::exchange(claim.entry, nullptr)->claim = nullptr;
}

void Registry::answer(Waiter& waiter, Error outcome, std::shared_ptr<Grant> grant) {
  waiter.deadline.cancel();
  if (std::exchange(waiter.counted, false)) --waiters_;
  outcome = about(waiter.request.key, std::move(outcome));
  waiter.owed.tell(std::move(outcome), std::move(grant));
}

// The waiter in the seat has been answered. Its place in the server's queue passes to the next one
// here if that one wants the same; else it is given up.
void Registry::leave_seat(Claim& claim) {
  loop_.bury(std::exchange(claim.seat, nullptr));
  Entry* entry = claim.entry;
  if (entry != nullptr && !entry->waiting.empty() && !closed_ &&
      terms_of(entry->waiting.front()->request) == claim.terms()) {
    claim.seat = take_first(*entry);
    claim.seat->claim = claim.weak_from_this();
    return claim.resume();
  }
  detach(claim);
  claim.give_up();
  if (entry != nullptr) seat_next(claim.key(), *entry);
}

void Registry::cancel(const std::shared_ptr<Waiter>& waiter, Error why) {
  if (!waiter->owed) return;
  answer(*waiter, std::move(why));
  if (Entry* entry = std::exchange(waiter->entry, nullptr)) {
    entry->waiting.erase(waiter->place);
    return forget_if_unused(waiter->request.key);
  }
  if (const auto claim = waiter->claim.lock()) {
    if (claim->seat == waiter) leave_seat(*claim);
  }
}

void Registry::on_deadline(Waiter& waiter) {
  const auto self = waiter.shared_from_this();
  loop_.bury(self);
  const auto claim = waiter.claim.lock();
  const bool seated = claim != nullptr && claim->seat == self;
  Error why = seated ? claim->why_not() : Error{Status::kTimeout, {}};
  answer(waiter, std::move(why));
  if (Entry* entry = std::exchange(waiter.entry, nullptr)) {
    entry->waiting.erase(waiter.place);
    forget_if_unused(waiter.request.key);
  } else if (seated) {
    leave_seat(*claim);
  }
}

// ---- what claims tell

void Registry::on_granted(Claim& claim) {
  loop_.bury(claim.seat);
  const AcquireRequest& request = claim.seat->request;
  claim.reentrant = request.owner;
  if (claim.reentrant != 0) {
    reentrant_[{claim.key().text(), claim.reentrant}] = claim.weak_from_this();
  }
  auto grant = claim.issue(request);
  const auto waiter = std::exchange(claim.seat, nullptr);
  answer(*waiter, Error{Status::kOk, {}}, std::move(grant));
}

void Registry::on_refused(Claim& claim, Error why) {
  answer(*claim.seat, std::move(why));
  leave_seat(claim);
}

void Registry::on_lost(Claim& claim) {
  Entry* entry = claim.entry;
  detach(claim);
  if (entry != nullptr) seat_next(claim.key(), *entry);
}

void Registry::on_done(Claim& claim) {
  Entry* entry = claim.entry;
  detach(claim);
  if (entry != nullptr) seat_next(claim.key(), *entry);
  const auto left = left_.find(claim.key().text());
  if (left != left_.end() && left->second == &claim) left_.erase(left);
  const auto found = others_.find(claim.seq());
  if (found == others_.end()) return;
  loop_.bury(found->second);
  others_.erase(found);
  tell_if_idle();
}

void Registry::tell_if_idle() {
  if (entries_.empty() && others_.empty() && idle_) std::exchange(idle_, nullptr)();
}

// ---- holding

void Registry::extend(const std::shared_ptr<Grant>& grant, Ttl ttl, Owed owed) {
  if (const auto claim = grant->claim_.lock()) claim->check_lease();
  if (grant->loss() != LossReason::kNone) return owed.tell(Status::kLost);
  const auto claim = grant->claim_.lock();
  if (grant->state_ != Grant::State::kHeld || claim == nullptr) return owed.tell(Status::kNotHeld);
  claim->extend(grant, ttl, std::move(owed));
}

void Registry::release(const std::shared_ptr<Grant>& grant, Owed owed) {
  const auto claim = grant->claim_.lock();
  if (grant->state_ == Grant::State::kReleasing && claim != nullptr &&
      claim->state() == Claim::State::kClosing) {
    return claim->also_tell(std::move(owed));
  }
  if (grant->state_ != Grant::State::kHeld) {
    const bool untold = std::exchange(grant->end_untold_, false);
    const bool lost = grant->loss() != LossReason::kNone;
    return owed.tell(!untold ? Status::kNotHeld : lost ? Status::kLost : Status::kOk);
  }
  if (claim != nullptr) claim->check_lease();
  grant->news_.waive();
  let_go(grant, std::move(owed));
}

Status Registry::release_nowait(const std::shared_ptr<Grant>& grant) {
  if (grant->state_ != Grant::State::kHeld) return Status::kNotHeld;
  if (const auto claim = grant->claim_.lock()) claim->check_lease();
  const bool lost = grant->loss() != LossReason::kNone;
  grant->end_untold_ = !lost;
  let_go(grant, Owed());
  return lost ? Status::kLost : Status::kOk;
}

void Registry::let_go(const std::shared_ptr<Grant>& grant, Owed owed) {
  const auto claim = grant->claim_.lock();
  grant->ended_.store(true, std::memory_order_release);
  grant->state_ = Grant::State::kReleased;
  const bool last = claim != nullptr && claim->let_go(*grant);
  if (last && claim->reentrant != 0) forget_owner(*claim);
  if (grant->loss() != LossReason::kNone) {
    // Whatever of it the server still has goes behind.
    if (last && claim->state() == Claim::State::kLost) claim->give_up();
    return owed.tell(Status::kLost);
  }
  if (!last) return owed.tell(Status::kOk);
  pass_on(*claim, grant, std::move(owed));
}

// Its owner enters claim no more; the same owner may have got the key by another one since.
void Registry::forget_owner(const Claim& claim) {
  const auto found = reentrant_.find({claim.key().text(), claim.reentrant});
  if (found != reentrant_.end() && found->second.lock().get() == &claim) reentrant_.erase(found);
}

// The holder of claim is gone: on to the next waiter here by memory or by requeue, or back to the
// server.
void Registry::pass_on(Claim& claim, const std::shared_ptr<Grant>& released, Owed owed) {
  const auto self = claim.shared_from_this();
  Entry* entry = claim.entry;
  const bool waited_for = entry != nullptr && !entry->waiting.empty();
  if (waited_for && claim.may_hand_over() &&
      terms_of(entry->waiting.front()->request) == claim.terms()) {
    claim.seat = take_first(*entry);
    owed.tell(Status::kOk);
    on_granted(claim);
    return claim.check_lease();
  }
  released->state_ = Grant::State::kReleasing;
  detach(claim);
  if (waited_for && wake_.is_confirmed()) {
    claim_for_first(*entry)->ask_by_requeue(claim, std::move(owed), released);
    return;
  }
  if (waited_for) wake_.want();  // so that the next time a requeue will do
  claim.close(std::move(owed), released);
  if (entry != nullptr) seat_next(claim.key(), *entry);
}

// ---- the end

// In the order of their beginning.
std::vector<std::shared_ptr<Claim>> Registry::all_claims() const {
  std::vector<std::shared_ptr<Claim>> all;
  all.reserve(entries_.size() + others_.size());
  for (const auto& [key, entry] : entries_) {
    if (entry.claim != nullptr) all.push_back(entry.claim);
  }
  for (const auto& [seq, claim] : others_) all.push_back(claim);
  std::ranges::sort(all, {}, &Claim::seq);
  return all;
}

void Registry::close(std::function<void()> idle) {
  closed_ = true;
  idle_ = std::move(idle);
  const auto claims = all_claims();
  std::vector<std::shared_ptr<Waiter>> waiters;
  for (const auto& [key, entry] : entries_) {
    waiters.insert(waiters.end(), entry.waiting.begin(), entry.waiting.end());
  }
  for (const auto& claim : claims) {
    if (claim->seat != nullptr) waiters.push_back(claim->seat);
  }
  for (const auto& waiter : waiters)
    cancel(waiter, Error{Status::kClosed, "the client was closed"});
  for (const auto& claim : claims) {
    claim->lose(LossReason::kClosed);
    if (claim->state() == Claim::State::kLost) claim->give_up();
    claim->close_at_once();
  }
  tell_if_idle();
}

void Registry::abandon() noexcept {
  const auto end = [](Waiter& waiter) {
    waiter.deadline.cancel();
    waiter.counted = false;
    waiter.owed.tell(Status::kNoMemory);
  };
  const auto end_claim = [end](Claim& claim) {
    if (claim.seat != nullptr) end(*claim.seat);
    claim.abandon();
  };
  for (const auto& [key, entry] : entries_) {
    for (const auto& waiter : entry.waiting) {
      waiter->entry = nullptr;
      end(*waiter);
    }
    if (entry.claim != nullptr) end_claim(*entry.claim);
  }
  for (const auto& [seq, claim] : others_) end_claim(*claim);
  waiters_ = 0;
  left_.clear();
  reentrant_.clear();
  entries_.clear();
  others_.clear();
  idle_ = nullptr;
}

}  // namespace lockc

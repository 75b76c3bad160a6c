#include "user.h"

#include <algorithm>
#include <utility>

#include "inspection.h"

namespace lockc::sim {

void User::later(Duration within, Step step) {
  later(within, [self = shared_from_this(), step] { (self.get()->*step)(); });
}

void User::later(Duration within, Task task) {
  world_.in(world_.between(0ms, within),
            [self = shared_from_this(), task = std::move(task)] { self->process_.deliver(task); });
}

void User::act() {
  if (habits_.calm || process_.is_closing()) return;
  if (world_.chance(5)) return inspect();
  return world_.chance(3) ? read() : acquire();
}

// ---- acquires

void User::acquire() {
  AcquireRequest request = choose();
  const bool waits = request.wait != 0ms;
  const Duration allowed = waits ? Duration(request.wait) : habits_.answer_within;
  const std::string key = request.key.text();
  ask(std::move(request), allowed,
      [self = shared_from_this()](Completion told) { self->on_acquired(std::move(told)); });
  if (fair_) judge_.turns.waits(key, waiter_);
  if (waits && world_.chance(15)) later(2s, &User::cancel);
}

AcquireRequest User::choose() {
  static constexpr Millis kTtls[] = {50ms, 200ms, 500ms, 1s, 3s, 10s};
  static constexpr Millis kWaits[] = {0ms, 0ms, 20ms, 300ms, 2s, 6s, kForever, kForever};
  ttl_ = world_.pick(kTtls);
  fair_ = world_.chance(20);
  return {
      .key = *Key::make("", some_key()),
      .ttl = *Ttl::make(ttl_.count()),
      .renew = world_.chance(70),
      .fair = fair_,
      .spin = world_.chance(5),
      .fenced = !world_.chance(20),
      .wait = world_.pick(kWaits),
      .max_hold = world_.chance(5) ? ttl_ / 2 : 0ms,
      .owner = number_,
  };
}

void User::ask(AcquireRequest request, Duration allowed, std::function<void(Completion)> then) {
  const std::string what =
      "acquire " + request.key.text() + " ttl " + std::to_string(ttl_.count()) + " wait " +
      std::to_string(request.wait.count()) + (request.renew ? " renewed" : "") +
      (request.fair ? " fair" : "") + (request.fenced ? "" : " unfenced") +
      (request.owner == 0 ? "" : " by owner " + std::to_string(request.owner));
  asked_ = std::make_shared<Hold>(world_, process_, request);
  request.events = asked_;
  auto sink = judge_.expect(process_, what, allowed, std::move(then));
  waiter_ =
      process_.registry().acquire(std::move(request), Owed(sink, Completion::Kind::kAcquire, 1));
}

void User::cancel() {
  if (const auto waiter = waiter_.lock()) {
    process_.registry().cancel(waiter, Error{Status::kCancelled, {}});
  }
}

// Inside the loop, so nothing is asked for here.
void User::on_acquired(Completion completion) {
  if (completion.grant == nullptr) return later(habits_.pause_between, &User::act);
  asked_->begin(std::move(completion.grant));
  holds_.push_back(asked_);
  if (judge_.holders.granted(process_, asked_)) {
    judge_.turns.holds(asked_->key.text(), asked_->grant()->owner(), fair_);
  }
  later(Duration(ttl_) / 2, &User::use);
}

// ---- holds

void User::use() {
  if (habits_.calm) return release();
  if (may_enter_again() && world_.chance(40)) return enter_again();
  if (may_write() && world_.chance(20)) return write();
  if (world_.chance(60)) return release();
  if (world_.chance(50)) return extend();
  const bool writes = may_write() && world_.chance(50);
  later(Duration(ttl_) * 2, writes ? &User::write : &User::release);  // perhaps beyond its end
}

// Where another thread of its number has the key by now, it would get that one's grant.
bool User::may_enter_again() const {
  if (number_ == 0 || holds_.size() == 3) return false;
  return number_ != kSharedNumber || judge_.holders.is_alone(*holds_.back());
}

void User::enter_again() {
  AcquireRequest request = choose();
  request.key = holds_.back()->key;
  request.fenced = holds_.back()->fenced;  // its token is that of the grant
  ask(std::move(request), Duration::zero(),
      [self = shared_from_this()](const Completion& told) { self->on_entered_again(told); });
}

// The answer is there at once: it is the same grant, or that is lost.
void User::on_entered_again(const Completion& completion) {
  const std::shared_ptr<Hold> outer = holds_.back();
  const Status status = completion.outcome.status;
  if (completion.grant != nullptr) {
    asked_->begin(completion.grant);
    holds_.push_back(asked_);
    judge_.holders.granted(process_, asked_);
    if (!asked_->is_shared_with(*outer)) world_.fail("entered again by another grant");
  } else if (status != Status::kClosed && (status != Status::kLost || outer->remaining() > 0ms)) {
    world_.fail("kept from what it holds: " + outer->grant()->owner());
  }
  later(Duration(ttl_) / 2, &User::use);
}

void User::extend() {
  const std::shared_ptr<Grant>& grant = holds_.back()->grant();
  const auto ttl = *Ttl::make((ttl_ * (1 + static_cast<int64_t>(world_.below(3)))).count());
  auto sink = judge_.expect(process_, "extend " + grant->owner(), habits_.answer_within,
                            [self = shared_from_this()](const Completion&) {
                              self->later(Duration(self->ttl_) * 2, &User::release);
                            });
  process_.registry().extend(grant, ttl, Owed(sink, Completion::Kind::kExtend, 2));
}

bool User::may_write() const { return holds_.back()->grant()->token().value != 0; }

void User::write() {
  const std::shared_ptr<Grant>& grant = holds_.back()->grant();
  const auto key = *Key::make("", Records::key_of(holds_.back()->key.text()));
  RecordWrite wanted{.value = judge_.records.new_value(), .token = grant->token()};
  if (world_.chance(20)) wanted.version = version_;
  const auto sink = judge_.expect(
      process_, "write " + wanted.value + " by " + std::to_string(grant->token().value),
      habits_.answer_within, [self = shared_from_this()](const Completion&) {
        self->later(Duration(self->ttl_) / 2, &User::use);
      });
  auto owed = std::make_shared<Owed>(sink, Completion::Kind::kAcquire, 5);
  const std::string value = wanted.value;
  process_.records().write(
      key, std::move(wanted),
      [self = shared_from_this(), value, owed](const Result<uint64_t>& version) {
        self->judge_.records.told(value, version);
        if (version) self->version_ = *version;
        owed->tell(version ? Error{} : version.error());
      });
}

// In any order, if there are several. One in five lets go without waiting for the answer, half of
// them so that they still hear of a loss.
void User::release() {
  waiter_.reset();
  const auto which = holds_.begin() + static_cast<std::ptrdiff_t>(world_.below(holds_.size()));
  const std::shared_ptr<Hold> hold = *which;
  holds_.erase(which);
  const std::shared_ptr<Grant>& grant = hold->grant();
  if (world_.chance(10)) return release_nowait(hold);
  if (world_.chance(10)) {
    world_.trace(process_.name(), "drops", grant->owner());
    process_.registry().release(grant, Owed());
    hold->let_go();
    return go_on();
  }
  auto sink = judge_.expect(process_, "release " + grant->owner(), habits_.answer_within,
                            [self = shared_from_this()](const Completion&) { self->go_on(); });
  process_.registry().release(grant, Owed(sink, Completion::Kind::kRelease, 3));
  hold->let_go();
}

void User::release_nowait(const std::shared_ptr<Hold>& hold) {
  world_.trace(process_.name(), "releases without waiting", hold->grant()->owner());
  const bool knows = hold->is_lost();
  const Status known = process_.registry().release_nowait(hold->grant());
  if (knows && known != Status::kLost) world_.fail("gave back what it had lost");
  judge_.holders.let_go_unanswered(hold);
  go_on();
}

void User::go_on() {
  if (holds_.empty()) return later(habits_.pause_between, &User::act);
  later(Duration(ttl_) / 2, &User::use);
}

// ---- looks

std::string User::some_key() { return "key-" + std::to_string(world_.below(habits_.keys)); }

void User::inspect() {
  const std::string lock = some_key();
  const auto key = *Key::make("", world_.chance(20) ? Records::key_of(lock) : lock);
  const auto sink =
      judge_.expect(process_, "inspect " + key.text(), habits_.answer_within,
                    [self = shared_from_this()](const Completion&) { self->go_on(); });
  auto owed = std::make_shared<Owed>(sink, Completion::Kind::kAcquire, 4);
  process_.inspect_key(key, [&world = world_, key, owed](const Result<std::string>& json) {
    if (json) check_inspection(world, key, *json);
    owed->tell(json ? Error{} : json.error());
  });
}

void User::read() {
  const auto key = *Key::make("", Records::key_of(some_key()));
  const auto sink =
      judge_.expect(process_, "read " + key.text(), habits_.answer_within,
                    [self = shared_from_this()](const Completion&) { self->go_on(); });
  auto owed = std::make_shared<Owed>(sink, Completion::Kind::kAcquire, 6);
  process_.records().read(key, [&records = judge_.records, owed](const Result<Record>& found) {
    if (found) records.told(*found);
    owed->tell(found ? Error{} : found.error());
  });
}

}  // namespace lockc::sim

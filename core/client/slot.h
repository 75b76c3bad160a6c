// Where one blocked caller waits for one answer.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "client/kick.h"
#include "client/sleepers.h"
#include "lock/operation.h"
#include "net/connection.h"

namespace lockc {

struct Waiter;

// A connection that a blocked caller reads by itself, for all that wait for a reply on it.
struct Lead {
  std::shared_ptr<Connection> connection;
  std::shared_ptr<Socket> socket;
  Duration limit = Socket::kForever;  // of one read
  int looks = 0;                      // ... and how often it looks before it blocks
  bool is_channel = false;  // the wake channel, read by the only one that waits for a grant
  explicit operator bool() const { return socket != nullptr; }
};

class Slot final : public Sink {
 public:
  // sleepers: those of the loop that tells this slot.
  explicit Slot(Sleepers& sleepers) : sleepers_(sleepers) {}
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  // The owner goes on at once, outside the loop, and this object ends with its call: whoever tells
  // it does not touch it afterwards.
  void complete(Completion completion) noexcept override {
    answer_ = std::move(completion);
    unblock();
    wake(State::kDone);
  }
  // Inside or outside the loop.
  bool is_done() const { return state_.load(std::memory_order_acquire) == State::kDone; }
  Completion take() { return std::move(answer_); }

  // Sleeps until done, or until asked to read a connection for all that wait on it.
  void sleep() {
    State seen = State::kPending;
    if (!state_.compare_exchange_strong(seen, State::kSleeping)) return;
    while (state_.load(std::memory_order_acquire) == State::kSleeping) {
      Sleepers::sleep(place_, state_, State::kSleeping);
    }
  }
  // Asks the sleeper to read a borrowed connection; inside the loop.
  void lead(Lead lead) {
    lead_ = std::move(lead);
    unblock();
    wake(State::kLeading);
  }
  // What lead() brought, if it was called; behind sleep(). It must be seen to even when done.
  Lead take_lead() {
    State seen = State::kLeading;
    state_.compare_exchange_strong(seen, State::kPending);
    return std::exchange(lead_, {});
  }

  // The owner waits for two things from now on: its answer, for which kick rings, and a socket.
  void watch(const Kick& kick) {
    kick_ = &kick;
    State seen = State::kPending;
    state_.compare_exchange_strong(seen, State::kWatching);
  }
  // ... and no longer. Both inside the loop.
  void unwatch() {
    State seen = State::kWatching;
    state_.compare_exchange_strong(seen, State::kPending);
  }

  // Inside the loop only:
  std::weak_ptr<Connection> carrier;  // has this caller's request
  std::shared_ptr<Waiter> waiter;     // of an acquire

  // The callers that sleep, in the order in which they began.
  class Blocked {
   public:
    Blocked() = default;
    Blocked(const Blocked&) = delete;
    Blocked& operator=(const Blocked&) = delete;

    bool empty() const { return last_ == nullptr; }
    Slot* last() const { return last_; }
    static Slot* before(const Slot& slot) { return slot.before_; }
    void add(Slot& slot) {
      slot.blocked_ = this;
      slot.place_ = slot.sleepers_.take_place();
      slot.before_ = std::exchange(last_, &slot);
      if (slot.before_ != nullptr) slot.before_->behind_ = &slot;
    }

   private:
    friend class Slot;
    Slot* last_ = nullptr;
  };

 private:
  enum class State : int { kPending, kSleeping, kWatching, kLeading, kDone };

  void unblock() {
    if (blocked_ == nullptr) return;
    (behind_ != nullptr ? behind_->before_ : blocked_->last_) = before_;
    if (before_ != nullptr) before_->behind_ = behind_;
    before_ = behind_ = nullptr;
    blocked_ = nullptr;
    sleepers_.leave_place(place_);
  }

  void wake(State state) {
    Sleepers& sleepers = sleepers_;
    const Kick* kick = kick_;
    const Sleepers::Place place = place_;
    const State before = state_.exchange(state, std::memory_order_acq_rel);
    if (before == State::kSleeping) sleepers.wake_later(place);
    if (before == State::kWatching) kick->ring();
  }

  Sleepers& sleepers_;
  std::atomic<State> state_{State::kPending};
  Lead lead_;
  const Kick* kick_ = nullptr;
  Completion answer_;
  Sleepers::Place place_;
  Blocked* blocked_ = nullptr;  // the list it stands in
  Slot* before_ = nullptr;
  Slot* behind_ = nullptr;
};

}  // namespace lockc

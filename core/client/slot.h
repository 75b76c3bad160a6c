// Where one blocked caller waits for one answer.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <memory>

#include "client/kick.h"
#include "lock/operation.h"
#include "net/connection.h"

namespace lockc {

struct Waiter;

class Slot final : public Sink {
 public:
  void complete(Completion completion) override {
    answer_ = std::move(completion);
    wake(State::kDone);
  }
  // Inside or outside the loop.
  bool is_done() const { return state_.load(std::memory_order_acquire) == State::kDone; }
  Completion take() { return std::move(answer_); }

  // Sleeps until done, or until asked to read a connection for all that wait on it.
  void sleep() {
    State seen = State::kPending;
    if (!state_.compare_exchange_strong(seen, State::kSleeping)) return;
    while (is_sleeping()) futex(FUTEX_WAIT_PRIVATE, static_cast<int>(State::kSleeping));
  }
  // Asks the sleeper to read a borrowed connection; inside the loop.
  void lead(std::shared_ptr<Socket> socket) {
    socket_ = std::move(socket);
    wake(State::kLeading);
  }
  // What lead() brought, if it was called; inside the loop. It must be seen to even when done.
  std::shared_ptr<Socket> take_lead() {
    State seen = State::kLeading;
    state_.compare_exchange_strong(seen, State::kPending);
    return std::exchange(socket_, nullptr);
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

 private:
  enum class State : int { kPending, kSleeping, kWatching, kLeading, kDone };

  // The owner comes into the loop before it goes on, so this object outlives the call.
  void wake(State state) {
    const State before = state_.exchange(state, std::memory_order_acq_rel);
    if (before == State::kSleeping) futex(FUTEX_WAKE_PRIVATE, 1);
    if (before == State::kWatching) kick_->ring();
  }

  bool is_sleeping() const { return state_.load(std::memory_order_acquire) == State::kSleeping; }
  // futex(2) itself: std::atomic::wait yields the processor several times before it sleeps, which
  // many callers on few cores pay for.
  void futex(int operation, int value) {
    ::syscall(SYS_futex, &state_, operation, value, nullptr, nullptr, 0);
  }

  static_assert(sizeof(std::atomic<State>) == sizeof(int));
  std::atomic<State> state_{State::kPending};
  std::shared_ptr<Socket> socket_;
  const Kick* kick_ = nullptr;
  Completion answer_;
};

}  // namespace lockc

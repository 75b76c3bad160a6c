// What the scripts do, on a State.
#pragma once

#include <utility>

#include "rules.h"
#include "state.h"

namespace model {

class Server {
 public:
  Server(State& state, const Rules& rules, const Bounds& bounds)
      : state_(state), rules_(rules), bounds_(bounds) {}

  // Execute and return the answer with its token. fits() tells whether the bounds allowed it.
  using Reply = std::pair<Answer, uint8_t>;

  Reply acquire(Owner value) {
    if (is(state_.holder, value)) {
      state_.expiry = kTtl;
      leave(value);
      return {Answer::kGranted, rules_.new_tokens ? draw() : state_.fence};
    }
    if (state_.expiry == 0) {
      const bool first = state_.queue[0].seq == 0 || state_.queue[0] == value;
      if (first || !rules_.queue_first) {
        if (!first) state_.what = Broken::kOrder;
        leave(value);
        return {Answer::kGranted, grant(value)};
      }
      grant_first();
    }
    join(value);
    return {Answer::kQueued, state_.fence};
  }

  // cut: the script breaks off before it sets the key, with the message gone out (rule
  // message_last).
  Reply release(Owner value, bool cut) {
    leave(value);
    const bool ours = is(state_.holder, value) || (state_.expiry != 0 && !rules_.compare);
    if (cut) {
      if (!ours || state_.queue[0].seq == 0) fits_ = false;
      const Owner holder = state_.holder;
      const uint8_t expiry = state_.expiry;
      grant_first();
      state_.holder = holder;
      state_.expiry = expiry;
      return {Answer::kNone, 0};
    }
    if (ours || (state_.expiry == 0 && rules_.cancel_grants)) {
      free_key();
      grant_first();
    }
    if (state_.expiry == 0 && state_.queue[0].seq != 0) state_.what = Broken::kAsleep;
    return {Answer::kDone, 0};
  }

  Reply requeue(Owner value, Owner next) {
    leave(value);
    if (is(state_.holder, value)) free_key();
    return acquire(next);
  }

  void tick() {
    if (state_.expiry != 0 && --state_.expiry == 0) free_key();
  }

  bool fits() const { return fits_; }

 private:
  bool is(Owner holder, Owner value) const { return state_.expiry != 0 && holder == value; }

  void free_key() {
    state_.holder = {};
    state_.expiry = 0;
  }

  uint8_t draw() {
    if (state_.fence + kBlock > bounds_.tokens) fits_ = false;
    state_.fence += kBlock;
    return state_.fence - kBlock + 1;
  }

  uint8_t grant(Owner value) {
    state_.holder = value;
    state_.expiry = kTtl;
    return draw();
  }

  void grant_first() {
    const Owner value = state_.queue[0];
    if (value.seq == 0) return;
    leave(value);
    const uint8_t first = grant(value);
    for (Message& message : state_.messages) {
      if (message.to.seq != 0) continue;
      message = {value, first};
      return;
    }
    fits_ = false;
  }

  void join(Owner value) {
    for (Owner& place : state_.queue) {
      if (place == value) return;
      if (place.seq != 0) continue;
      place = value;
      return;
    }
    fits_ = false;
  }

  void leave(Owner value) {
    size_t to = 0;
    for (const Owner place : std::exchange(state_.queue, {})) {
      if (place.seq != 0 && !(place == value)) state_.queue[to++] = place;
    }
  }

  State& state_;
  const Rules& rules_;
  const Bounds& bounds_;
  bool fits_ = true;
};

}  // namespace model

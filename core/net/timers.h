// Timers as a hierarchical wheel (Varghese and Lauck, "Hashed and hierarchical timing wheels",
// 1987): arming and cancelling cost O(1) however many locks are held. Lives inside the loop.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/clock.h"

namespace lockc {

class Timers;

// One thing to do at one time. Neither copied nor moved; cancels itself when destroyed.
class Timer {
 public:
  // The task is a callable of one word, as a lambda that captures `this`: each held lock has a
  // timer.
  template <class Task>
  requires(sizeof(Task) == sizeof(void*) && std::is_trivially_copyable_v<Task>)
      Timer(Timers& timers, Task task)
      : timers_(timers),
        word_(std::bit_cast<void*>(task)),
        run_([](void* word) { std::bit_cast<Task>(word)(); }) {}
  ~Timer() { cancel(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // (Re)arms; a time in the past fires in the next run. kNever cancels.
  void arm(TimePoint when);
  void cancel();
  bool armed() const { return next_ != nullptr; }

 private:
  friend class Timers;
  Timers& timers_;
  void* const word_;  // the task, and what runs it
  void (*const run_)(void* word);
  Timer* next_ = nullptr;  // ring of the slot; nullptr: not armed
  Timer* prev_ = nullptr;
  uint64_t tick_ = 0;
  uint8_t level_ = 0;
};

class Timers {
 public:
  explicit Timers(TimePoint now);
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  // Fires what is due. Timers that tasks arm for the past fire in the same run.
  void run(TimePoint now);
  // When run() must be called next at the latest; kNever without timers. May be earlier than the
  // first timer, never later.
  TimePoint next() const;

 private:
  friend class Timer;
  static constexpr unsigned kBits = 6;  // 64 slots per level: one word says which are used
  static constexpr unsigned kSlots = 1U << kBits;
  static constexpr unsigned kLevels = 8;  // 2^48 ms

  struct Slot {
    Timer* first = nullptr;
  };

  void insert(Timer& timer);
  void remove(Timer& timer);

  uint64_t now_tick_;  // ms since the clock's zero: all timers before it have fired
  std::array<std::array<Slot, kSlots>, kLevels> wheel_{};
  std::array<uint64_t, kLevels> used_{};  // bit n: slot n of that level has timers
};

}  // namespace lockc

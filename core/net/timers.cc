#include "net/timers.h"

#include <algorithm>
#include <bit>

namespace lockc {
namespace {

uint64_t tick_down(TimePoint time) {
  return static_cast<uint64_t>(std::chrono::floor<Millis>(time.time_since_epoch()).count());
}

}  // namespace

void Timer::arm(TimePoint when) {
  cancel();
  if (when == kNever) return;
  // Rounded up: a timer never fires early.
  const auto ticks = std::chrono::ceil<Millis>(std::max(when, TimePoint()).time_since_epoch());
  tick_ = static_cast<uint64_t>(ticks.count());
  timers_.insert(*this);
}

void Timer::cancel() {
  if (armed()) timers_.remove(*this);
}

Timers::Timers(TimePoint now) : now_tick_(tick_down(now)) {}

// A timer stands on the level of the highest digit (base 64) in which its tick differs from now's.
// So all of level n come before all of level n + 1, and inside a level the slots are in order.
void Timers::insert(Timer& timer) {
  const uint64_t tick = std::max(timer.tick_, now_tick_);
  const uint64_t differs = tick ^ now_tick_;
  const auto top = static_cast<unsigned>(std::bit_width(differs | 1U) - 1);
  const unsigned level = std::min(top / kBits, kLevels - 1);
  timer.tick_ = tick;
  timer.level_ = static_cast<uint8_t>(level);
  const auto index = static_cast<unsigned>(tick >> (level * kBits)) % kSlots;
  Slot& slot = wheel_[level][index];
  if (slot.first == nullptr) {
    slot.first = timer.next_ = timer.prev_ = &timer;
    used_[level] |= uint64_t{1} << index;
  } else {
    timer.next_ = slot.first;
    timer.prev_ = slot.first->prev_;
    timer.prev_->next_ = timer.next_->prev_ = &timer;
  }
}

void Timers::remove(Timer& timer) {
  const unsigned level = timer.level_;
  const auto index = static_cast<unsigned>(timer.tick_ >> (level * kBits)) % kSlots;
  Slot& slot = wheel_[level][index];
  if (timer.next_ == &timer) {
    slot.first = nullptr;
    used_[level] &= ~(uint64_t{1} << index);
  } else {
    timer.next_->prev_ = timer.prev_;
    timer.prev_->next_ = timer.next_;
    if (slot.first == &timer) slot.first = timer.next_;
  }
  timer.next_ = timer.prev_ = nullptr;
}

TimePoint Timers::next() const {
  for (unsigned level = 0; level < kLevels; ++level) {
    if (used_[level] == 0) continue;
    const auto index = static_cast<uint64_t>(std::countr_zero(used_[level]));
    const unsigned shift = level * kBits;
    const uint64_t above =
        shift + kBits < 64 ? (now_tick_ >> (shift + kBits)) << (shift + kBits) : 0;
    return TimePoint(Millis(static_cast<int64_t>(above | (index << shift))));
  }
  return kNever;
}

void Timers::run(TimePoint now) {
  const uint64_t target = std::max(tick_down(now), now_tick_);
  for (;;) {
    const TimePoint first = next();
    if (first == kNever || tick_down(first) > target) break;
    now_tick_ = std::max(now_tick_, tick_down(first));
    unsigned level = 0;
    while (used_[level] == 0) ++level;
    const auto index = static_cast<size_t>(std::countr_zero(used_[level]));
    const Slot& slot = wheel_[level][index];
    if (level == 0) {
      Timer& timer = *slot.first;
      remove(timer);
      timer.run_(timer.word_);
      continue;
    }
    // This slot has begun: all of it goes down to finer levels, for only these are in order.
    while (slot.first != nullptr) {
      Timer& timer = *slot.first;
      remove(timer);
      insert(timer);
    }
  }
  now_tick_ = target;
}

}  // namespace lockc

// Threads that sleep until there is news for them. Who has some says so inside the loop, and wakes
// them behind the turn: a wake is a system call, and the woken one may want the loop next.
//
// Up to 32 sleep on one word, each as a bit of its own, so that those who have news by one turn are
// woken by one call: of 64 callers some 15 at a time, which saves a seventh of the client's
// processor time against a call for each (measured).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace lockc {

class Sleepers {
  // The word changes each time that somebody is woken, so nobody falls asleep over the news.
  struct Bell {
    std::atomic<uint32_t> rings{0};
    uint32_t taken = 0;  // its places; inside the loop
  };

 public:
  // Where one thread sleeps. Two may share one where memory is short: each is woken for the other
  // too.
  struct Place {
    Bell* bell = nullptr;
    uint32_t bits = 0;
  };
  // Whom a turn has news for: each bell once, with the bits of all who sleep there.
  using Woken = std::vector<Place>;

  Sleepers();

  // Inside the loop:
  Place take_place() noexcept;
  // Who still sleeps there is woken behind this turn, or wakes by itself.
  void leave_place(Place place) noexcept;
  void wake_later(Place place) noexcept;
  Woken take() noexcept { return std::exchange(woken_, {}); }

  // Outside:
  // Sleeps at place while word is value, or for a shorter time.
  template <class Atomic, class Value>
  static void sleep(Place place, const Atomic& word, Value value) {
    const uint32_t rings = place.bell->rings.load(std::memory_order_acquire);
    if (word.load(std::memory_order_acquire) == value) wait(place, rings);
  }
  static void wake(const Woken& woken);

 private:
  static void wait(Place place, uint32_t rings);
  static void ring(Place place);

  std::deque<Bell> bells_;  // that of an address given away stays
  size_t first_free_ = 0;   // no bell before this one has a place left
  Woken woken_;
};

}  // namespace lockc

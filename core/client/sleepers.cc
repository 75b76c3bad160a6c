#include "client/sleepers.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <climits>
#include <new>

namespace lockc {

Sleepers::Sleepers() { bells_.emplace_back(); }

Sleepers::Place Sleepers::take_place() noexcept {
  while (first_free_ < bells_.size() && bells_[first_free_].taken == UINT32_MAX) ++first_free_;
  if (first_free_ == bells_.size()) {
    try {
      bells_.emplace_back();
    } catch (const std::bad_alloc&) {
      return {&bells_.front(), 1};
    }
  }
  Bell& bell = bells_[first_free_];
  const uint32_t bit = 1U << std::countr_one(bell.taken);
  bell.taken |= bit;
  return {&bell, bit};
}

void Sleepers::leave_place(Place place) noexcept {
  place.bell->taken &= ~place.bits;
  for (size_t i = 0; i < first_free_; ++i) {
    if (&bells_[i] == place.bell) first_free_ = i;
  }
}

void Sleepers::wake_later(Place place) noexcept {
  for (Place& woken : woken_) {
    if (woken.bell != place.bell) continue;
    woken.bits |= place.bits;
    return;
  }
  try {
    woken_.push_back(place);
  } catch (const std::bad_alloc&) {
    ring(place);
  }
}

void Sleepers::wake(const Woken& woken) {
  for (const Place& place : woken) ring(place);
}

// futex(2) itself: std::atomic::wait yields the processor several times before it sleeps, which
// many callers on few cores pay for.
void Sleepers::wait(Place place, uint32_t rings) {
  ::syscall(SYS_futex, &place.bell->rings, FUTEX_WAIT_BITSET_PRIVATE, rings, nullptr, nullptr,
            place.bits);
}

void Sleepers::ring(Place place) {
  place.bell->rings.fetch_add(1, std::memory_order_acq_rel);
  ::syscall(SYS_futex, &place.bell->rings, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, nullptr, nullptr,
            place.bits);
}

}  // namespace lockc

// The one clock of lockc, injected everywhere: it never jumps and counts suspend. Any thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace lockc {

// CLOCK_BOOTTIME: monotonic, unlike CLOCK_MONOTONIC it goes on while the machine is suspended, so a
// lease cannot outlive its key by a closed laptop lid (clock_gettime(2)).
struct BootTime {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootTime>;
  static constexpr bool is_steady = true;
};

using TimePoint = BootTime::time_point;
using Duration = BootTime::duration;
using Millis = std::chrono::milliseconds;

inline constexpr TimePoint kNever = TimePoint::max();

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
};

// The machine's clock.
class BootClock final : public Clock {
 public:
  TimePoint now() const override;
};

// now + wait, without overflow; a negative wait means for ever.
inline TimePoint after(TimePoint now, Millis wait) {
  if (wait < Millis::zero() || wait > std::chrono::duration_cast<Millis>(kNever - now))
    return kNever;
  return now + wait;
}

}  // namespace lockc

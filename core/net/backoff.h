// Jittered exponential back-off: the waits between tries. A plain value, inside the loop.
#pragma once

#include <algorithm>

#include "base/clock.h"
#include "base/random.h"

namespace lockc {

class Backoff {
 public:
  Backoff(Millis low, Millis high) : low_(low), high_(high), next_(low) {}

  // Evenly within the lower and the upper half of the present step, which then doubles.
  Millis next(Random& random) {
    const Millis wait = random.between(std::max(low_, next_ / 2), next_);
    next_ = std::min(next_ * 2, high_);
    return wait;
  }
  void reset() { next_ = low_; }

 private:
  Millis low_;
  Millis high_;
  Millis next_;
};

}  // namespace lockc

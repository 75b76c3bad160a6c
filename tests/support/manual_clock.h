// A clock that stands still until a test moves it.
#pragma once

#include "base/clock.h"

namespace lockc::test {

class ManualClock final : public Clock {
 public:
  TimePoint now() const override { return now_; }
  void set(TimePoint now) { now_ = now; }
  void advance(Duration by) { now_ += by; }

 private:
  TimePoint now_{std::chrono::hours(1)};
};

}  // namespace lockc::test

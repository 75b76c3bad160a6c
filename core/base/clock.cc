#include "base/clock.h"

#include <ctime>

namespace lockc {

TimePoint BootClock::now() const {
  timespec ts{};
  ::clock_gettime(CLOCK_BOOTTIME, &ts);
  return TimePoint(std::chrono::seconds(ts.tv_sec) + std::chrono::nanoseconds(ts.tv_nsec));
}

}  // namespace lockc

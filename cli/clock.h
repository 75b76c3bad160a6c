// The clock by which leases count: it never jumps, and it goes on while the machine is suspended.
#pragma once

#include <time.h>

#include <chrono>

namespace lockc::cli {

// Time since the machine was started.
using BootTime = std::chrono::milliseconds;

inline BootTime boot_now() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::duration_cast<BootTime>(std::chrono::seconds(now.tv_sec) +
                                              std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace lockc::cli

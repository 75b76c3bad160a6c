// What lockc and its guard tell each other, one message per packet of a socket pair.
#pragma once

#include <cstdint>

#include "clock.h"

namespace lockc::cli {

struct Order {
  enum Kind : int32_t {
    kStart,   // run the command: token, proven_until
    kProven,  // the lease now lasts longer: proven_until
    kSignal,  // pass a signal on: signal
    kLost,    // the lock is known to be lost
    kThanks,  // the ending was received
  };
  Kind kind;
  int32_t signal = 0;
  uint64_t token = 0;
  BootTime proven_until{};
};

struct Ending {
  enum Kind : int32_t {
    kNotStarted,  // value: errno
    kEnded,       // by itself; value: its status as waitpid() tells it
    kStopped,     // by the guard, for the sake of the lease
    kGuardDied,   // the guard is gone, and so is the command
  };
  Kind kind;
  int32_t value = 0;
};

}  // namespace lockc::cli

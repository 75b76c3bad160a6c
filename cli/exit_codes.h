// The exit codes of the command, one for each thing that a script may want to tell apart.
#pragma once

#include "lockc/lockc.h"

namespace lockc::cli {

// From sysexits(3), which ends at 78, where it has a fitting one; from the shell's conventions.
enum ExitCode : int {
  kDone = 0,
  kUsage = 64,
  kNoAnswer = 69,
  kInternal = 70,
  kLost = 73,
  kBusy = 75,
  kDenied = 77,
  kStale = 79,
  kConflict = 80,
  kNotExecutable = 126,
  kNotFound = 127,
  kSignalled = 128,  // plus the number of the signal
};

inline ExitCode exit_code(lockc_status status) {
  switch (status) {
    case LOCKC_OK:
      return kDone;
    case LOCKC_BUSY:
    case LOCKC_TIMEOUT:
      return kBusy;
    case LOCKC_LOST:
      return kLost;
    case LOCKC_STALE:
      return kStale;
    case LOCKC_CONFLICT:
      return kConflict;
    case LOCKC_E_INVALID:
      return kUsage;
    case LOCKC_E_DENIED:
      return kDenied;
    case LOCKC_E_NOMEM:
    case LOCKC_E_INTERNAL:
      return kInternal;
    default:
      return kNoAnswer;
  }
}

}  // namespace lockc::cli

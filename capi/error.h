// The error object of the ABI, and how statuses leave it.
#pragma once

#include <lockc/lockc.h>

#include <string>

#include "base/status.h"

struct lockc_error {
  lockc_status status;
  std::string message;
};

namespace lockc::capi {

// Gives *err an object for a status < 0, where the caller asked for one and memory allows; returns
// the status.
lockc_status tell(const Error& outcome, lockc_error** err) noexcept;
lockc_status tell(Status status, const char* message, lockc_error** err) noexcept;

}  // namespace lockc::capi

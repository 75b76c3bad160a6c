// Statuses and error objects: lockc_version, lockc_status_*, lockc_error_*, lockc_text_*.
#include "error.h"

#include <new>

#include "handles.h"

// The numbers of the ABI are those of the core.
static_assert(LOCKC_BUSY == static_cast<int>(lockc::Status::kBusy));
static_assert(LOCKC_TIMEOUT == static_cast<int>(lockc::Status::kTimeout));
static_assert(LOCKC_CANCELLED == static_cast<int>(lockc::Status::kCancelled));
static_assert(LOCKC_NOT_HELD == static_cast<int>(lockc::Status::kNotHeld));
static_assert(LOCKC_LOST == static_cast<int>(lockc::Status::kLost));
static_assert(LOCKC_PENDING == static_cast<int>(lockc::Status::kPending));
static_assert(LOCKC_STALE == static_cast<int>(lockc::Status::kStale));
static_assert(LOCKC_CONFLICT == static_cast<int>(lockc::Status::kConflict));
static_assert(LOCKC_E_INVALID == static_cast<int>(lockc::Status::kInvalid));
static_assert(LOCKC_E_CLOSED == static_cast<int>(lockc::Status::kClosed));
static_assert(LOCKC_E_NOMEM == static_cast<int>(lockc::Status::kNoMemory));
static_assert(LOCKC_E_UNREACHABLE == static_cast<int>(lockc::Status::kUnreachable));
static_assert(LOCKC_E_UNCERTAIN == static_cast<int>(lockc::Status::kUncertain));
static_assert(LOCKC_E_SERVER == static_cast<int>(lockc::Status::kServer));
static_assert(LOCKC_E_DENIED == static_cast<int>(lockc::Status::kDenied));
static_assert(LOCKC_E_WRONG_TYPE == static_cast<int>(lockc::Status::kWrongType));
static_assert(LOCKC_E_SERVER_OOM == static_cast<int>(lockc::Status::kServerOom));
static_assert(LOCKC_E_UNSUPPORTED == static_cast<int>(lockc::Status::kUnsupported));
static_assert(LOCKC_E_LIMIT == static_cast<int>(lockc::Status::kLimit));
static_assert(LOCKC_E_FORKED == static_cast<int>(lockc::Status::kForked));
static_assert(LOCKC_E_INTERNAL == static_cast<int>(lockc::Status::kInternal));
static_assert(LOCKC_E_READONLY == static_cast<int>(lockc::Status::kReadOnly));
static_assert(LOCKC_E_NOT_READY == static_cast<int>(lockc::Status::kNotReady));

namespace lockc::capi {

lockc_status tell(const Error& outcome, lockc_error** err) noexcept {
  return tell(outcome.status, outcome.message.c_str(), err);
}

lockc_status tell(Status outcome, const char* message, lockc_error** err) noexcept {
  const auto status = static_cast<lockc_status>(outcome);
  if (status >= 0 || err == nullptr) return status;
  try {
    *err = new lockc_error{status, message};
  } catch (...) {
    *err = nullptr;  // memory is short: the status has to do
  }
  return status;
}

}  // namespace lockc::capi

uint32_t lockc_version(void) {
  return (LOCKC_VERSION_MAJOR << 16U) | (LOCKC_VERSION_MINOR << 8U) | LOCKC_VERSION_PATCH;
}

const char* lockc_status_name(lockc_status status) {
  // The names are string literals, so their views end in a zero.
  return lockc::status_name(static_cast<lockc::Status>(status)).data();
}

lockc_status lockc_error_status(const lockc_error* err) {
  return err == nullptr ? LOCKC_OK : err->status;
}

const char* lockc_error_message(const lockc_error* err) {
  return err == nullptr ? "" : err->message.c_str();
}

void lockc_error_free(lockc_error* err) { delete err; }

const char* lockc_text_data(const lockc_text* text) {
  return text == nullptr ? "" : text->text.c_str();
}

void lockc_text_free(lockc_text* text) { delete text; }

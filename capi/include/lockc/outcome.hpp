// lockc for C++17: how a call ended. A Status, the Outcome that carries it, the Error it throws.
#ifndef LOCKC_OUTCOME_HPP
#define LOCKC_OUTCOME_HPP

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "lockc/lockc.h"

namespace lockc {

// The statuses of lockc.h under the same values; docs/errors.md says what each means.
enum class Status : lockc_status {
  kOk = LOCKC_OK,
  kBusy = LOCKC_BUSY,
  kTimeout = LOCKC_TIMEOUT,
  kCancelled = LOCKC_CANCELLED,
  kNotHeld = LOCKC_NOT_HELD,
  kLost = LOCKC_LOST,
  kPending = LOCKC_PENDING,
  kStale = LOCKC_STALE,
  kConflict = LOCKC_CONFLICT,
  kInvalid = LOCKC_E_INVALID,
  kClosed = LOCKC_E_CLOSED,
  kNoMemory = LOCKC_E_NOMEM,
  kUnreachable = LOCKC_E_UNREACHABLE,
  kUncertain = LOCKC_E_UNCERTAIN,
  kServer = LOCKC_E_SERVER,
  kDenied = LOCKC_E_DENIED,
  kWrongType = LOCKC_E_WRONG_TYPE,
  kServerOom = LOCKC_E_SERVER_OOM,
  kUnsupported = LOCKC_E_UNSUPPORTED,
  kLimit = LOCKC_E_LIMIT,
  kForked = LOCKC_E_FORKED,
  kInternal = LOCKC_E_INTERNAL,
  kReadOnly = LOCKC_E_READONLY,
  kNotReady = LOCKC_E_NOT_READY,
};

// Why a lease was lost.
enum class LostReason : std::int32_t {
  kNot = LOCKC_LOST_NOT,
  kExpired = LOCKC_LOST_EXPIRED,
  kTaken = LOCKC_LOST_TAKEN,
  kLimit = LOCKC_LOST_LIMIT,
  kClosed = LOCKC_LOST_CLOSED,
  kForked = LOCKC_LOST_FORKED,
};

// What a completion tells.
enum class Event : std::int32_t {
  kAcquire = LOCKC_DONE_ACQUIRE,
  kExtend = LOCKC_DONE_EXTEND,
  kRelease = LOCKC_DONE_RELEASE,
  kLost = LOCKC_EVENT_LOST,
};

// [any] "BUSY"; a static string.
inline const char* name(Status status) noexcept {
  return lockc_status_name(static_cast<lockc_status>(status));
}

namespace detail {

struct Free {
  void operator()(lockc_error* error) const noexcept { lockc_error_free(error); }
  void operator()(lockc_lock* lock) const noexcept { lockc_lock_free(lock); }
  void operator()(lockc_text* text) const noexcept { lockc_text_free(text); }
  void operator()(lockc_fence* fence) const noexcept { lockc_fence_free(fence); }
  void operator()(lockc_record* record) const noexcept { lockc_record_free(record); }
  void operator()(lockc_queue* queue) const noexcept { lockc_queue_close(queue); }
  void operator()(lockc_client* client) const noexcept { lockc_client_close(client); }
};

template <typename T>
using Handle = std::unique_ptr<T, Free>;

}  // namespace detail

// How a call ended: a status, and for a failure the text. It owns the text; move-only.
class Outcome {
 public:
  Outcome() noexcept = default;
  explicit Outcome(lockc_status status, lockc_error* owned = nullptr) noexcept
      : status_(static_cast<Status>(status)), error_(owned) {}

  Status status() const noexcept { return status_; }

  // The text of a failure, else the status' name. Lives as long as this object.
  const char* message() const noexcept {
    return error_ ? lockc_error_message(error_.get()) : name(status_);
  }

  // True for success only.
  explicit operator bool() const noexcept { return status_ == Status::kOk; }

  // True where no usable answer was had; false for an answer that is merely not success.
  bool failed() const noexcept { return static_cast<lockc_status>(status_) < 0; }

 private:
  Status status_ = Status::kOk;
  detail::Handle<lockc_error> error_;
};

// Thrown where a function has no other way to say that it did not do what its name says.
class Error : public std::runtime_error {
 public:
  explicit Error(const Outcome& outcome)
      : std::runtime_error(outcome.message()), status_(outcome.status()) {}
  Error(const Outcome& outcome, std::string_view key)
      : std::runtime_error(outcome.failed() ? outcome.message()
                                            : std::string(key) + ": " + outcome.message()),
        status_(outcome.status()) {}
  Error(Status status, const std::string& message) : std::runtime_error(message), status_(status) {}

  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

namespace detail {

// Calls call(&error) and keeps both halves of the answer.
template <typename Call>
Outcome ask(Call call) noexcept {
  lockc_error* error = nullptr;
  const lockc_status status = call(&error);
  return Outcome(status, error);
}

}  // namespace detail
}  // namespace lockc

#endif  // LOCKC_OUTCOME_HPP

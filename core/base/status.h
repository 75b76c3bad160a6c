// The outcomes of operations and the error value that carries a text. Plain values, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace lockc {

// The numbers are those of the C ABI (checked there); docs/errors.md says what each one means.
enum class Status : int32_t {
  kOk = 0,
  kBusy = 1,
  kTimeout = 2,
  kCancelled = 3,
  kNotHeld = 4,
  kLost = 5,
  kPending = 6,
  kStale = 7,
  kConflict = 8,
  kInvalid = -1,
  kClosed = -2,
  kNoMemory = -3,
  kUnreachable = -4,
  kUncertain = -5,
  kServer = -6,
  kDenied = -7,
  kWrongType = -8,
  kServerOom = -9,
  kUnsupported = -10,
  kLimit = -11,
  kForked = -12,
  kInternal = -15,
  kReadOnly = -16,
  kNotReady = -17,
};

// "BUSY", "E_INVALID", ...; "UNKNOWN" for a number that is none of them.
std::string_view status_name(Status status);

// A failed operation: its status and one sentence for a person. The text is empty for expected
// answers (status > 0).
struct Error {
  Status status = Status::kOk;
  std::string message;
};

// A value, or the error that stands in its place.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// "message: detail", or just one of them where the other is empty.
std::string join(std::string_view message, std::string_view detail);

}  // namespace lockc

#include "base/status.h"

namespace lockc {

std::string_view status_name(Status status) {
  switch (status) {
    case Status::kOk:
      return "OK";
    case Status::kBusy:
      return "BUSY";
    case Status::kTimeout:
      return "TIMEOUT";
    case Status::kCancelled:
      return "CANCELLED";
    case Status::kNotHeld:
      return "NOT_HELD";
    case Status::kLost:
      return "LOST";
    case Status::kPending:
      return "PENDING";
    case Status::kStale:
      return "STALE";
    case Status::kConflict:
      return "CONFLICT";
    case Status::kInvalid:
      return "E_INVALID";
    case Status::kClosed:
      return "E_CLOSED";
    case Status::kNoMemory:
      return "E_NOMEM";
    case Status::kUnreachable:
      return "E_UNREACHABLE";
    case Status::kUncertain:
      return "E_UNCERTAIN";
    case Status::kServer:
      return "E_SERVER";
    case Status::kDenied:
      return "E_DENIED";
    case Status::kWrongType:
      return "E_WRONG_TYPE";
    case Status::kServerOom:
      return "E_SERVER_OOM";
    case Status::kUnsupported:
      return "E_UNSUPPORTED";
    case Status::kLimit:
      return "E_LIMIT";
    case Status::kForked:
      return "E_FORKED";
    case Status::kInternal:
      return "E_INTERNAL";
    case Status::kReadOnly:
      return "E_READONLY";
    case Status::kNotReady:
      return "E_NOT_READY";
  }
  return "UNKNOWN";
}

std::string join(std::string_view message, std::string_view detail) {
  std::string text(message);
  if (!message.empty() && !detail.empty()) text += ": ";
  text += detail;
  return text;
}

}  // namespace lockc

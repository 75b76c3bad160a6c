#include "text.h"

#include <unistd.h>

namespace lockc::cli {

void complain(std::string_view message) {
  std::string line = "lockc: ";
  line.append(message).append("\n");
  // Nothing better can be done about a stderr that takes nothing.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

std::string describe(lockc_status status, const Failure& failure) {
  return failure ? lockc_error_message(failure.get()) : lockc_status_name(status);
}

std::string printable(std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out.append("\\x").append({kHex[byte >> 4], kHex[byte & 15]});
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace lockc::cli

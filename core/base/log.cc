#include "base/log.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace lockc {

void Log::warn(std::string_view text) const {
  if (fd_ <= 0) return;
  std::string line = "lockc: ";
  line.append(text);
  // What a server said may be quoted here: it must not pass for another line.
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7F; };
  std::replace_if(line.begin(), line.end(), is_control, ' ');
  line.push_back('\n');
  // send() first, since write() to a closed socket or pipe raises SIGPIPE; a full or closed log
  // loses the line rather than holding up locks.
  if (::send(fd_, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == ENOTSOCK) {
    [[maybe_unused]] const auto written = ::write(fd_, line.data(), line.size());
  }
}

}  // namespace lockc

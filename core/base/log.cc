#include "base/log.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace lockc {

void Log::warn(std::string_view text) const {
  if (fd_ <= 0) return;
  // Put together without memory of the heap, of which there may be none.
  std::array<char, 1024> line;
  constexpr std::string_view kBegin = "lockc: ";
  auto* end = std::copy(kBegin.begin(), kBegin.end(), line.begin());
  text = text.substr(0, line.size() - kBegin.size() - 1);
  // What a server said may be quoted here: it must not pass for another line.
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7F; };
  end = std::replace_copy_if(text.begin(), text.end(), end, is_control, ' ');
  *end++ = '\n';
  const auto size = static_cast<size_t>(end - line.begin());
  // send() first, since write() to a closed socket or pipe raises SIGPIPE; a full or closed log
  // loses the line rather than holding up locks.
  if (::send(fd_, line.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == ENOTSOCK) {
    [[maybe_unused]] const auto written = ::write(fd_, line.data(), size);
  }
}

}  // namespace lockc

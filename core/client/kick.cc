#include "client/kick.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace lockc {

Kick::Kick() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Kick::~Kick() { ::close(fd_); }

void Kick::ring() const {
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);
}

void Kick::wait_with(const Socket& socket) const {
  std::array<pollfd, 2> entries = {pollfd{socket.fd(), POLLIN, 0}, pollfd{fd_, POLLIN, 0}};
  ::poll(entries.data(), entries.size(), -1);
  if ((entries[1].revents & POLLIN) == 0) return;
  uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(fd_, &count, sizeof count);
}

}  // namespace lockc

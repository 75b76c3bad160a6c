#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "net/transport.h"

namespace lockc {
namespace {

timespec to_timespec(Duration wait) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(wait);
  return {static_cast<time_t>(whole.count()), static_cast<long>((wait - whole).count())};
}

}  // namespace

Socket::~Socket() { ::close(fd_); }

long Socket::read(char* buffer, size_t size, Duration wait) const {
  int flags = wait == kForever ? 0 : MSG_DONTWAIT;
  if (wait != kForever && wait > Duration::zero()) {
    pollfd entry{fd_, POLLIN, 0};
    const timespec limit = to_timespec(wait);
    const int ready = ::ppoll(&entry, 1, &limit, nullptr);
    if (ready == 0 || (ready < 0 && errno == EINTR)) return kNothing;
  }
  const ssize_t got = ::recv(fd_, buffer, size, flags);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return kNothing;
  return got < 0 ? -1 : got;
}

bool Socket::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

size_t Socket::write_now(std::string_view bytes) const {
  const ssize_t put = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return put < 0 ? 0 : static_cast<size_t>(put);
}

}  // namespace lockc

#include "net/socket_stream.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace lockc {
namespace {

std::string error_text(int code) { return std::generic_category().message(code); }

}  // namespace

SocketStream::SocketStream(Reactor& reactor, uint64_t serial, StreamEvents& events)
    : reactor_(reactor), serial_(serial), events_(events) {
  reactor_.streams_.emplace(serial_, this);
}

SocketStream::~SocketStream() {
  reactor_.streams_.erase(serial_);
  // A caller that reads this socket right now sees its end; the last one of the two closes it.
  if (socket_ != nullptr) ::shutdown(socket_->fd(), SHUT_RDWR);
  if (registered_) ::epoll_ctl(reactor_.epoll_, EPOLL_CTL_DEL, socket_->fd(), nullptr);
}

void SocketStream::connect(Addresses addresses) {
  addresses_ = std::move(addresses);
  last_failure_ = addresses_.error;
  state_ = State::kConnecting;
  connect_next();
}

void SocketStream::connect_next() {
  while (next_address_ < addresses_.list.size()) {
    const Address& address = addresses_.list[next_address_++];
    const int fd = ::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
      last_failure_ = error_text(errno);
      continue;
    }
    socket_ = std::make_shared<Socket>(fd);
    registered_ = false;
    watched_ = 0;
    const auto* name = reinterpret_cast<const sockaddr*>(&address.storage);
    if (::connect(fd, name, address.size) == 0 || errno == EINPROGRESS) {
      watch();
      return;
    }
    last_failure_ = error_text(errno);
    socket_.reset();
  }
  // Nothing may be told from within connect(): the owner has no stream yet.
  reactor_.post([&reactor = reactor_, serial = serial_, why = last_failure_] {
    const auto entry = reactor.streams_.find(serial);
    if (entry != reactor.streams_.end()) entry->second->close(why);
  });
}

void SocketStream::connected() {
  int code = 0;
  socklen_t size = sizeof code;
  if (::getsockopt(socket_->fd(), SOL_SOCKET, SO_ERROR, &code, &size) < 0) code = errno;
  if (code != 0) {
    last_failure_ = error_text(code);
    ::epoll_ctl(reactor_.epoll_, EPOLL_CTL_DEL, socket_->fd(), nullptr);
    registered_ = false;
    socket_.reset();
    connect_next();
    return;
  }
  // From here on blocking: borrowed sockets are read with a plain recv(); the loop asks for
  // MSG_DONTWAIT each time.
  const int flags = ::fcntl(socket_->fd(), F_GETFL);
  ::fcntl(socket_->fd(), F_SETFL, flags & ~O_NONBLOCK);
  const int on = 1;
  ::setsockopt(socket_->fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // fails on unix sockets
  ::setsockopt(socket_->fd(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  state_ = State::kOpen;
  watch();
  events_.on_open();
}

void SocketStream::on_events(uint32_t events) {
  if (state_ == State::kConnecting) {
    if (socket_ != nullptr) connected();
    return;
  }
  if (state_ != State::kOpen) return;
  const bool broken = (events & (EPOLLHUP | EPOLLERR)) != 0;  // reading tells why
  if ((events & EPOLLOUT) != 0 && write_blocked_ && !broken) {
    write_blocked_ = false;
    watch();
    events_.on_writable();
    return;  // level-triggered: what else there is comes again; the stream may be gone
  }
  if (borrowed_) {
    watched_ = 0;  // EPOLLONESHOT: disarmed; the borrower sees the end by itself
    return;
  }
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) read_all();
}

void SocketStream::read_all() {
  std::array<char, 65536> buffer;
  const ssize_t got = ::recv(socket_->fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got > 0) {
    events_.on_bytes({buffer.data(), static_cast<size_t>(got)});
  } else if (got == 0) {
    close("the server closed the connection");
  } else if (errno != EAGAIN && errno != EINTR) {
    close(error_text(errno));
  } else {
    watched_ = 0;
    watch();
  }
}

size_t SocketStream::write(std::string_view bytes) {
  if (state_ != State::kOpen || write_blocked_) return 0;
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::send(socket_->fd(), bytes.data() + done, bytes.size() - done,
                               MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put > 0) {
      done += static_cast<size_t>(put);
    } else if (errno == EINTR) {
      continue;
    } else {
      // Blocked, or broken: then the next read tells why, now or when on_writable is due.
      write_blocked_ = true;
      watch();
      break;
    }
  }
  return done;
}

void SocketStream::set_reading(bool reading) {
  if (reading_ == reading) return;
  reading_ = reading;
  watch();
}

std::shared_ptr<Socket> SocketStream::borrow() {
  if (state_ != State::kOpen || borrowed_) return nullptr;
  borrowed_ = true;
  reading_ = false;  // stays so afterwards, until an answer is expected in the loop again
  watch();
  return socket_;
}

std::shared_ptr<Socket> SocketStream::socket() {
  return state_ == State::kOpen && !write_blocked_ ? socket_ : nullptr;
}

void SocketStream::give_back() {
  borrowed_ = false;
  watch();
}

// A socket that nobody reads in the loop is watched for its end only, once: EPOLLRDHUP alone does
// not wake the loop's thread when data arrives for a borrower (epoll filters by mask before it
// wakes).
void SocketStream::watch() {
  uint32_t wanted = 0;
  if (state_ == State::kConnecting) {
    wanted = EPOLLOUT;
  } else if (state_ == State::kOpen) {
    const bool loop_reads = reading_ && !borrowed_;
    wanted = loop_reads ? EPOLLIN | EPOLLRDHUP : EPOLLRDHUP | EPOLLONESHOT;
    if (write_blocked_) wanted = (wanted | EPOLLOUT) & ~static_cast<uint32_t>(EPOLLONESHOT);
  }
  if (wanted == watched_ || socket_ == nullptr) return;
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = serial_;
  const int verb = registered_ ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (::epoll_ctl(reactor_.epoll_, verb, socket_->fd(), &event) == 0) {
    registered_ = true;
    watched_ = wanted;
  }
}

void SocketStream::close(const std::string& why) {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  if (registered_) ::epoll_ctl(reactor_.epoll_, EPOLL_CTL_DEL, socket_->fd(), nullptr);
  registered_ = false;
  events_.on_closed(why);  // the owner may destroy this stream
}

}  // namespace lockc

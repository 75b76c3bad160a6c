#include "guard.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "guard_process.h"
#include "process_tree.h"

namespace lockc::cli {

Guard::Guard(const Command& command, Millis ttl) {
  // Should the guard be killed, the command's processes fall to lockc, which kills them then.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::system_category(), "cannot talk to a guard process");
  }
  channel_ = Fd(ends[0]);
  Fd guards_end(ends[1]);
  pid_ = ::fork();
  if (pid_ < 0) {
    throw std::system_error(errno, std::system_category(), "cannot start a guard process");
  }
  if (pid_ == 0) {
    channel_.close();
    GuardProcess(std::move(guards_end), command, ttl).run();
    ::_exit(0);
  }
}

void Guard::start(uint64_t token, BootTime proven_until) {
  send({.kind = Order::kStart, .token = token, .proven_until = proven_until});
}

void Guard::proven(BootTime until) { send({.kind = Order::kProven, .proven_until = until}); }

void Guard::pass_on(int signal) { send({.kind = Order::kSignal, .signal = signal}); }

void Guard::lost() { send({.kind = Order::kLost}); }

// Never blocks. A guard that is gone shows by ending(); one that is stopped may miss renewals,
// which only makes it act too early.
void Guard::send(const Order& order) {
  [[maybe_unused]] const ssize_t sent =
      ::send(fd(), &order, sizeof order, MSG_DONTWAIT | MSG_NOSIGNAL);
}

std::optional<Ending> Guard::ending() {
  Ending ending{};
  const ssize_t size = ::recv(fd(), &ending, sizeof ending, MSG_DONTWAIT);
  if (size == sizeof ending) {
    send({.kind = Order::kThanks});
    return ending;
  }
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  kill_descendants();
  return Ending{Ending::kGuardDied};
}

void Guard::kill() { ::kill(pid_, SIGKILL); }

}  // namespace lockc::cli

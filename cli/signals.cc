#include "signals.h"

#include <sys/signalfd.h>

#include <cerrno>
#include <system_error>

namespace lockc::cli {
namespace {

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// A signal that is blocked is queued although it is ignored, so it must not be blocked.
bool is_ignored(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Signals::Signals() {
  sigset_t wanted;
  ::sigemptyset(&wanted);
  for (const int number : kPassedOn) {
    if (!is_ignored(number)) ::sigaddset(&wanted, number);
  }
  fd_ = Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (fd_.get() < 0) {
    throw std::system_error(errno, std::system_category(), "cannot receive signals");
  }
  // Who ignores SIGCHLD when starting lockc would keep it from learning how the command ended.
  ::signal(SIGCHLD, SIG_DFL);
  ::sigaddset(&wanted, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &wanted, &before_);
}

std::optional<Signal> Signals::next() {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return Signal{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

}  // namespace lockc::cli
